/** Params of a run: a form where the dag has a schema, raw JSON always. */
import { useMemo, useState } from 'react';
import { Segmented } from '../parts/filters.tsx';
import { type Field, fieldsOf, readFields, readRaw, type Schema, textsOf } from './schema-form.ts';

export interface EditedParams {
  /** Undefined while something is wrong with them. */
  readonly params: unknown;
  readonly isValid: boolean;
}

interface EditorProps {
  readonly schema: Schema | boolean | null;
  readonly initial: unknown;
  readonly onChange: (edited: EditedParams) => void;
}

const MODES = [
  ['form', 'Form'],
  ['raw', 'JSON'],
] as const;

const pretty = (value: unknown): string =>
  value === null || value === undefined ? '' : JSON.stringify(value, null, 2);

export function ParamsEditor({ schema, initial, onChange }: EditorProps) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [mode, setMode] = useState<'form' | 'raw'>(fields === null ? 'raw' : 'form');
  const [texts, setTexts] = useState(() => (fields === null ? {} : textsOf(fields, initial)));
  const [raw, setRaw] = useState(() => pretty(initial));
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const [rawFault, setRawFault] = useState<string | null>(null);

  const changeTexts = (next: Record<string, string>) => {
    setTexts(next);
    const read = readFields(fields ?? [], next);
    setFaults('faults' in read ? read.faults : {});
    onChange('params' in read ? { params: read.params, isValid: true } : { params: undefined, isValid: false });
  };
  const changeRaw = (next: string) => {
    setRaw(next);
    const read = readRaw(next);
    setRawFault('fault' in read ? read.fault : null);
    onChange('params' in read ? { params: read.params, isValid: true } : { params: undefined, isValid: false });
  };
  const change = (next: 'form' | 'raw') => {
    if (next === 'raw' && fields !== null) {
      const read = readFields(fields, texts);
      if ('params' in read) changeRaw(pretty(read.params));
    } else if (fields !== null) {
      const read = readRaw(raw);
      if ('params' in read) changeTexts(textsOf(fields, read.params));
    }
    setMode(next);
  };

  return (
    <div className="stack tight">
      {fields !== null && <Segmented label="How to give params" choices={MODES} value={mode} onChange={change} />}
      {mode === 'form' && fields !== null ? (
        fields.map((field) => (
          <FieldRow
            key={field.name}
            field={field}
            text={texts[field.name] ?? ''}
            fault={faults[field.name]}
            onChange={(text) => changeTexts({ ...texts, [field.name]: text })}
          />
        ))
      ) : (
        <label className="form">
          <span>Params as JSON</span>
          <textarea
            className="field mono"
            rows={8}
            spellCheck={false}
            value={raw}
            placeholder="Leave empty for none"
            onChange={(event) => changeRaw(event.target.value)}
          />
          {rawFault !== null && <span className="error-text">{rawFault}</span>}
        </label>
      )}
    </div>
  );
}

interface FieldRowProps {
  readonly field: Field;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onChange: (text: string) => void;
}

function FieldRow({ field, text, fault, onChange }: FieldRowProps) {
  const { name, kind, isRequired, schema } = field;
  return (
    <label className="form">
      <span>
        {schema.title ?? name}
        {isRequired && <span className="faint"> (required)</span>}
      </span>
      {kind === 'choice' || kind === 'boolean' ? (
        <select className="field" value={text} onChange={(event) => onChange(event.target.value)}>
          <option value="">
            {schema.default === undefined ? 'not given' : `default: ${JSON.stringify(schema.default)}`}
          </option>
          {(kind === 'boolean' ? [true, false] : field.choices).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          className="field mono"
          rows={4}
          spellCheck={false}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          className="field"
          inputMode={kind === 'text' ? 'text' : 'decimal'}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {schema.description !== undefined && <small>{schema.description}</small>}
      {fault !== undefined && <span className="error-text">{`${name} ${fault}`}</span>}
    </label>
  );
}

/** Labelled fields of forms. */
import type { ReactNode } from 'react';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly placeholder?: string;
  /** More than one line. */
  readonly rows?: number;
  readonly isMono?: boolean;
  readonly list?: string;
  readonly type?: 'text' | 'datetime-local';
  readonly disabled?: boolean;
}

export function TextField(props: FieldProps) {
  const {
    label,
    value,
    onChange,
    hint,
    fault,
    placeholder,
    rows,
    isMono = false,
    list,
    type,
    disabled = false,
  } = props;
  const common = {
    className: isMono ? 'field mono' : 'field',
    value,
    placeholder,
    spellCheck: false,
    disabled,
    // Without it the hint would be a part of the name.
    'aria-label': label,
    'aria-invalid': fault === undefined ? undefined : true,
  } as const;
  return (
    <label className="form">
      <span>{label}</span>
      {rows === undefined ? (
        <input {...common} list={list} type={type} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <textarea {...common} rows={rows} onChange={(event) => onChange(event.target.value)} />
      )}
      {hint !== undefined && <small>{hint}</small>}
      {fault !== undefined && <span className="error-text">{fault}</span>}
    </label>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: Readonly<Record<T, string>>;
  readonly onChange: (value: T) => void;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
}

export function ChoiceField<T extends string>({ label, value, choices, onChange, hint }: ChoiceProps<T>) {
  return (
    <label className="form">
      <span>{label}</span>
      <select
        className="field"
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {Object.entries<string>(choices).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

export function CheckField({
  label,
  checked,
  onChange,
}: {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}

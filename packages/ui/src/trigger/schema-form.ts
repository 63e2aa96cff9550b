/** From the JSON Schema of a dag's params to the fields of a form, and from the fields back to params. */
import { plural } from '../parts/format.ts';
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly title?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly choices: readonly unknown[];
  readonly schema: Schema;
  /** What the field shows first. */
  readonly initial: string;
}

/** Null when the schema describes no object with properties: then only raw JSON will do. */
export function fieldsOf(schema: Schema | boolean | null): readonly Field[] | null {
  if (schema === null || typeof schema === 'boolean' || schema.properties === undefined) return null;
  const entries = Object.entries(schema.properties);
  if (entries.length === 0) return null;
  return entries.map(([name, property]) => {
    const kind = kindOf(property);
    return {
      name,
      kind,
      isRequired: schema.required?.includes(name) === true,
      choices: property.enum ?? [],
      schema: property,
      initial: textOf(property.default, kind),
    };
  });
}

function kindOf({ type, enum: choices }: Schema): FieldKind {
  if (choices !== undefined) return 'choice';
  const types = (typeof type === 'string' ? [type] : (type ?? [])).filter((one) => one !== 'null');
  if (types.length !== 1) return 'json';
  switch (types[0]) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return types[0];
    default:
      return 'json';
  }
}

export function textOf(value: unknown, kind: FieldKind): string {
  if (value === undefined) return '';
  if (kind === 'text' && typeof value === 'string') return value;
  return kind === 'json' ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

export type ReadParams =
  | { readonly params: Record<string, unknown> }
  | { readonly faults: Readonly<Record<string, string>> };

/** The params that the texts of the fields mean; or what is wrong, by field. The server checks the whole schema again. */
export function readFields(fields: readonly Field[], texts: Readonly<Record<string, string>>): ReadParams {
  const params: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? '';
    // An empty text is none; whoever means the empty text writes JSON.
    if (text === '') {
      if (field.isRequired) faults[field.name] = 'is required';
      continue;
    }
    const fault = readInto(params, field, text);
    if (fault !== null) faults[field.name] = fault;
  }
  return Object.keys(faults).length > 0 ? { faults } : { params };
}

function readInto(params: Record<string, unknown>, { name, kind, schema }: Field, text: string): string | null {
  if (kind === 'text') {
    params[name] = text;
    if (schema.minLength !== undefined && text.length < schema.minLength)
      return `must have at least ${plural(schema.minLength, 'character')}`;
    if (schema.maxLength !== undefined && text.length > schema.maxLength)
      return `must have at most ${plural(schema.maxLength, 'character')}`;
    return null;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return kind === 'json' ? 'is not JSON' : kind === 'choice' ? 'is not one of the choices' : 'is not a number';
  }
  params[name] = value;
  if (kind === 'number' || kind === 'integer') {
    if (typeof value !== 'number') return 'is not a number';
    if (kind === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
    if (schema.minimum !== undefined && value < schema.minimum) return `must be at least ${schema.minimum}`;
    if (schema.maximum !== undefined && value > schema.maximum) return `must be at most ${schema.maximum}`;
  }
  return null;
}

/** The texts that the fields show for given params, such as those of an earlier run. */
export function textsOf(fields: readonly Field[], params: unknown): Record<string, string> {
  const known = typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {};
  return Object.fromEntries(
    fields.map(({ name, kind, initial }) => [name, name in known ? textOf(known[name], kind) : initial]),
  );
}

export function readRaw(text: string): { readonly params: unknown } | { readonly fault: string } {
  if (text.trim() === '') return { params: null };
  try {
    return { params: JSON.parse(text) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

/**
 * Values with references in them: `report-${{ params.day }}.csv`, or a list or an object with such texts inside. They are read
 * once, when the dag is deployed, into literal parts and sources; the worker puts the values in, each as data (I69).
 */
import {
  EMBEDDED,
  hasReference,
  type Path,
  type Reference,
  type RunField,
  readInner,
  readReference,
  UNCLOSED,
} from './references.ts';

/** Where the value of an input comes from. */
export type InputSource =
  | { readonly from: 'value'; readonly value: unknown }
  /** `each`: of a mapped task, seen from outside its map: a list of the outputs; the path picks from each. */
  | { readonly from: 'task'; readonly task: string; readonly path: Path; readonly each?: true }
  | { readonly from: 'params'; readonly path: Path }
  /** A value of a map that contains the task. */
  | { readonly from: 'item'; readonly group: string; readonly path: Path }
  | { readonly from: 'index'; readonly group: string }
  | { readonly from: 'run'; readonly field: RunField }
  /** References within a value. */
  | { readonly from: 'template'; readonly template: Template };

/** A secret is put in by the worker at the last moment, and only into texts that no log shows (I67). */
export interface SecretSource {
  readonly from: 'secret';
  readonly name: string;
}

type TextPart = string | InputSource | SecretSource;

export type Template =
  | { readonly value: unknown }
  /** One reference and nothing else: the value as it is, of whatever kind. */
  | { readonly source: InputSource }
  /** The values as text, between what was written. */
  | { readonly text: readonly TextPart[] }
  | { readonly list: readonly Template[] }
  | { readonly object: Readonly<Record<string, Template>> };

/** What a reference of a definition is for the worker; a text says what is wrong with it. */
export type ToSource = (reference: Reference) => InputSource | SecretSource | string;

type ReadTemplate =
  | { readonly ok: true; readonly template: Template; readonly isFixed: boolean }
  | { readonly ok: false; readonly path: string; readonly message: string };

/** `isFixed`: there is no reference in it. */
export function readTemplate(value: unknown, toSource: ToSource): ReadTemplate {
  if (typeof value === 'string') return readText(value, toSource);
  if (typeof value !== 'object' || value === null) return { ok: true, template: { value }, isFixed: true };
  const entries: [string, Template][] = [];
  let isFixed = true;
  for (const [key, inner] of Object.entries(value)) {
    const read = readTemplate(inner, toSource);
    if (!read.ok) return { ...read, path: `${Array.isArray(value) ? `[${key}]` : `.${key}`}${read.path}` };
    entries.push([key, read.template]);
    isFixed &&= read.isFixed;
  }
  if (isFixed) return { ok: true, template: { value }, isFixed };
  const template = Array.isArray(value)
    ? { list: entries.map(([, inner]) => inner) }
    : { object: Object.fromEntries(entries) };
  return { ok: true, template, isFixed };
}

function readText(text: string, toSource: ToSource): ReadTemplate {
  if (!hasReference(text)) return { ok: true, template: { value: text }, isFixed: true };
  const whole = readReference(text);
  if (whole?.ok === true) {
    const source = toSource(whole.reference);
    if (typeof source === 'string') return { ok: false, path: '', message: source };
    const template = source.from === 'secret' ? { text: [source] } : { source };
    return { ok: true, template, isFixed: false };
  }
  const read = readParts(text, toSource);
  if (typeof read === 'string') return { ok: false, path: '', message: read };
  return { ok: true, template: { text: read }, isFixed: false };
}

/** What is literal of a text, and what is not, in order; a text says what is wrong. */
export function readParts(text: string, toSource: ToSource): readonly TextPart[] | string {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(EMBEDDED)) {
    const literal = text.slice(from, match.index);
    if (hasReference(literal)) return UNCLOSED;
    if (literal !== '') parts.push(literal);
    const read = readInner((match[1] ?? '').trim());
    if (!read.ok) return read.message;
    const source = toSource(read.reference);
    if (typeof source === 'string') return source;
    parts.push(source);
    from = match.index + match[0].length;
  }
  const rest = text.slice(from);
  if (hasReference(rest)) return UNCLOSED;
  if (rest !== '') parts.push(rest);
  return parts;
}

/** All sources in it, however deep. */
export function* sourcesIn(template: Template): Generator<InputSource | SecretSource> {
  if ('source' in template) yield template.source;
  else if ('text' in template) {
    for (const part of template.text) if (typeof part !== 'string') yield part;
  } else if ('list' in template) for (const inner of template.list) yield* sourcesIn(inner);
  else if ('object' in template) for (const inner of Object.values(template.object)) yield* sourcesIn(inner);
}

/** What a value is within a text. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The template with its values put in. `partOf` makes text of a value, for where it stands. */
export function fillTemplate(
  template: Template,
  valueOf: (source: InputSource | SecretSource) => unknown,
  partOf: (value: unknown) => string = asText,
): unknown {
  if ('value' in template) return template.value;
  if ('source' in template) return valueOf(template.source);
  if ('text' in template) {
    return template.text.map((part) => (typeof part === 'string' ? part : partOf(valueOf(part)))).join('');
  }
  if ('list' in template) return template.list.map((inner) => fillTemplate(inner, valueOf, partOf));
  const entries = Object.entries(template.object).map(([key, inner]) => [key, fillTemplate(inner, valueOf, partOf)]);
  return Object.fromEntries(entries);
}

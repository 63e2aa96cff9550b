/**
 * Values on their way into SQL. Arrays are text literals built by `join`, which is twice as fast as the driver. Every text
 * element is quoted, so user text can't end its element (I69).
 *
 * PostgreSQL's text holds neither U+0000 nor half a surrogate pair, but user text can. They are escaped with U+0001, and so
 * is U+0001 itself. Each text has exactly one encoding, so equality in SQL is equality of texts, and nothing is lost on the
 * way back.
 */
const ESCAPE = '\u0001';
// Surrogates match one by one only where they stand alone: with the flag u a pair is one character.
const UNSTORABLE = /[\u0000\u0001]|\p{Surrogate}/gu;
// Most texts hold none of these: then one test is all.
const MAYBE_UNSTORABLE = /[\u0000\u0001\ud800-\udfff]/;
const QUOTED = /["\\]/;
const ALL_QUOTED = /["\\]/g;
const CONTROL = /[\u0000-\u001f\ud800-\udfff]/;

export function encodeText(text: string): string {
  if (!MAYBE_UNSTORABLE.test(text)) return text;
  return text.replace(UNSTORABLE, (char) => `${ESCAPE}${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function decodeText(stored: string): string {
  if (!stored.includes(ESCAPE)) return stored;
  return stored.replace(/\u0001([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function decodeNullableText(stored: string | null): string | null {
  return stored === null ? null : decodeText(stored);
}

/** Integers and booleans. */
export function plainArray(values: readonly (number | boolean)[]): string {
  return `{${values.join(',')}}`;
}

export function nullableArray(values: readonly (number | boolean | null)[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    if (i > 0) literal += ',';
    const value = values[i];
    literal += value === null || value === undefined ? 'NULL' : String(value);
  }
  return `${literal}}`;
}

/** Texts of any content. */
export function textArray(values: readonly (string | null)[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    if (i > 0) literal += ',';
    const value = values[i];
    if (value === null || value === undefined) literal += 'NULL';
    else literal += quoted(value);
  }
  return `${literal}}`;
}

/**
 * An element of an array. JSON escapes quotes and backslashes as arrays do, and natively: half the time for a text that is JSON itself. It
 * has other escapes for control characters and halves of surrogate pairs, which arrays do not know.
 */
function quoted(value: string): string {
  if (CONTROL.test(value)) return `"${encodeText(value).replace(ALL_QUOTED, '\\$&')}"`;
  return QUOTED.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** Texts of which most are missing, for `rowsOf` alone: null if all of them are, which is null in each row. */
export function sparseTexts(values: readonly (string | null)[]): string | null {
  return values.every((value) => value === null) ? null : textArray(values);
}

/**
 * UUIDs, unquoted. The length is checked because two UUIDs, or one and a NULL, do not fit into 36 characters: whatever
 * else stands there, it stays one element, and PostgreSQL refuses it.
 */
export function uuidArray(values: readonly string[]): string {
  for (const value of values) if (value.length !== 36) throw new Error(`"${value}" is not a UUID.`);
  return `{${values.join(',')}}`;
}

/** A column that PostgreSQL sent as one array of integers. */
export function parseIntegers(literal: string | null | undefined): number[] {
  if (literal === null || literal === undefined) return [];
  return JSON.parse(`[${literal.slice(1, -1)}]`) as number[];
}

/** A column of UUIDs: they need no unquoting. */
export function parseUuids(literal: string | null | undefined): string[] {
  if (literal === null || literal === undefined || literal === '{}') return [];
  return literal.slice(1, -1).split(',');
}

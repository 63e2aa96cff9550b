/** Options as they stand in a definition: plain JSON, with references written out. */
import { DagMistake, type Place } from './mistake.ts';
import { textOfRef } from './ref.ts';

const MAX_DEPTH = 64;

/** Inputs by name; a reference may be a whole input and not a part of one. */
export function plainInputs(inputs: Readonly<Record<string, unknown>>, place: Place | null): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, textOfRef(value) ?? plain(value, `inputs.${name}`, place)]),
  );
}

/** The value as JSON would give it back, where it would give the same back; a mistake at its place otherwise. */
export function plain(value: unknown, path: string, place: Place | null, depth = 0): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const reference = textOfRef(value);
  if (reference !== null) {
    throw new DagMistake(
      `${path} is the reference ${reference}, which can only be a whole input`,
      'Make it an input of its own and put the parts together in the function.',
      place,
    );
  }
  if (depth > MAX_DEPTH) throw new DagMistake(`${path} is nested deeper than ${MAX_DEPTH} levels`, null, place);
  if (Array.isArray(value)) return value.map((inner, i) => plain(inner, `${path}[${i}]`, place, depth + 1));
  if (isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => [key, plain(inner, path === '' ? key : `${path}.${key}`, place, depth + 1)]),
    );
  }
  throw new DagMistake(
    `${path} is ${describe(value)}, which is not JSON`,
    'Give text, numbers, booleans, null, and lists and objects of them.',
    place,
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  return `a ${String(value.constructor.name)}`;
}

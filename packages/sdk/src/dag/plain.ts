/** Options as they appear in a definition: plain JSON, with references written out. */
import { DagMistake, type Place } from './mistake.ts';
import { mapsOfRef, textOfRef } from './ref.ts';

const MAX_DEPTH = 64;

/** Where something is written: the place in the file, and the maps around it, outermost first. */
export interface Spot {
  readonly place: Place | null;
  readonly maps: readonly string[];
}

/** Inputs by name; a reference may be a whole input and not a part of one. */
export function plainInputs(inputs: Readonly<Record<string, unknown>>, spot: Spot): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, plainOrReference(value, `inputs.${name}`, spot)]),
  );
}

/** What a map goes over, as it stands in a definition. */
export function plainMap(over: unknown, spot: Spot): unknown {
  if (textOfRef(over) !== null || Array.isArray(over) || !isPlainObject(over))
    return plainOrReference(over, 'map', spot);
  const { over: sources, ...rest } = over;
  const isNamed = textOfRef(sources) === null && isPlainObject(sources);
  const named = () =>
    Object.entries(sources as object).map(([name, each]) => [name, plainOrReference(each, `map.over.${name}`, spot)]);
  return {
    over: isNamed ? Object.fromEntries(named()) : plainOrReference(sources, 'map.over', spot),
    ...(plain(rest, 'map', spot.place) as object),
  };
}

function plainOrReference(value: unknown, path: string, { place, maps }: Spot): unknown {
  const reference = textOfRef(value);
  if (reference === null) return plain(value, path, place);
  const of = mapsOfRef(value);
  if (of.every((map, i) => maps[i] === map)) return reference;
  throw new DagMistake(
    `${path} is ${reference}, which is of map ${of.at(-1)} and has many values outside it`,
    'Use what map() returns: it has the outputs of the tasks that its function returns, as lists.',
    place,
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

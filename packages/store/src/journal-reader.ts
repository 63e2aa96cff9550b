/** Reads the fields of one kind of change back, in the layout of the row: see `change/fields.ts` of the engine. */
import type { Coding, Field, Fields } from '@signalbox/engine';
import { codesOf } from './codes.ts';
import type { ByteReader } from './journal-bytes.ts';

type Values = Record<string, unknown>;
type ReadValue = (from: ByteReader, layout: number) => unknown;

interface Step {
  readonly name: string;
  readonly field: Field<unknown>;
  /** The field is the first that has a bit: the number that they share stands before it. */
  readonly beginsBits: boolean;
  readonly read: ReadValue;
}

/** Puts the fields into `values`. `layout` is the row's format; rows of formats 2 and 3 also have fractions, see `journal-layouts.ts`. */
type ReadFields = (from: ByteReader, layout: number, values: Values) => Values;

export function readerOf(fields: Fields): ReadFields {
  const all = Object.entries(fields);
  const firstBit = all.find(([, { bit }]) => bit > 0);
  const steps = all.map((one): Step => {
    const [name, field] = one;
    return { name, field, beginsBits: one === firstBit, read: valueReader(field.coding) };
  });
  return (from, layout, values) => readSteps(from, layout, steps, values);
}

function readSteps(from: ByteReader, layout: number, steps: readonly Step[], values: Values): Values {
  let bits = 0;
  for (const { name, field, beginsBits, read } of steps) {
    const { isNullable, isOptional, bit, since, before, onlyWith } = field;
    if (layout < since || (onlyWith !== null && values[onlyWith] === null)) {
      if (!isOptional) values[name] = before;
      continue;
    }
    if (beginsBits) bits = from.uint();
    let value: unknown;
    if (bit > 0 && !isNullable) value = valueOfBit(field.coding, (bits & bit) !== 0);
    else if (isNullable && !(bit > 0 ? (bits & bit) !== 0 : from.flag())) value = isOptional ? undefined : null;
    else value = read(from, layout);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** A bit says all there is to say of a flag, a mark or a trace. */
function valueOfBit({ as }: Coding, isThere: boolean): unknown {
  if (as === 'flag') return isThere;
  if (as === 'trace') return isThere ? '' : null;
  return isThere ? true : undefined;
}

/** What it reads is undefined for a field that is absent. */
function valueReader(coding: Coding): ReadValue {
  switch (coding.as) {
    case 'uint':
      return (from) => from.uint();
    case 'run':
      return (from) => from.run();
    case 'instant':
      return (from) => from.instant();
    case 'text':
      return (from) => from.text();
    case 'uuid':
      return (from) => from.uuid();
    case 'flag':
      return (from) => from.flag();
    case 'json':
      return (from) => JSON.parse(from.text()) as unknown;
    case 'word': {
      const codes = codesOf(coding.list);
      return (from) => codes.word(from.uint());
    }
    case 'uintOrNull':
      return (from) => from.uint() || null;
    case 'trace':
      return (from) => (from.flag() ? '' : null);
    case 'mark':
      return (from) => (from.flag() ? true : undefined);
    case 'omitted':
      return () => '';
    case 'record': {
      const read = readerOf(coding.fields);
      return (from, layout) => read(from, layout, {});
    }
    case 'list': {
      const element = valueReader(coding.of);
      return (from, layout) => Array.from({ length: from.uint() }, () => element(from, layout));
    }
  }
}

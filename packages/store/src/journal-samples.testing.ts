/** For tests: any change of any kind, drawn from the list of its fields. Texts that stay out of the journal are empty. */
import { CHANGE_KINDS, type Change, type Coding, type Fields } from '@signalbox/engine';
import fc from 'fast-check';

const uint = fc.oneof(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

function valueOf(coding: Coding): fc.Arbitrary<unknown> {
  switch (coding.as) {
    case 'uint':
    case 'run':
      return uint;
    case 'uintOrNull':
      return fc.option(fc.integer({ min: 1, max: 2 ** 48 - 1 }));
    case 'instant':
      return fc.integer({ min: 0, max: 4_102_444_800_000 });
    case 'text':
      return fc.string({ unit: 'binary' });
    case 'uuid':
      return fc.uuid();
    case 'flag':
      return fc.boolean();
    case 'json':
      return json.filter((value) => value !== null);
    case 'word':
      return fc.constantFrom(...coding.list.words);
    case 'trace':
      return fc.constantFrom(null, '');
    case 'mark':
      return fc.constantFrom(true, undefined);
    case 'omitted':
      return fc.constant('');
    case 'record':
      return recordOf(coding.fields);
    case 'list':
      return fc.array(valueOf(coding.of), { maxLength: 4 });
  }
}

function recordOf(fields: Fields): fc.Arbitrary<Record<string, unknown>> {
  const values = Object.entries(fields).map(([name, { coding, isNullable, isOptional }]) => {
    const value = valueOf(coding);
    return [name, isNullable ? fc.option<unknown, unknown>(value, { nil: isOptional ? undefined : null }) : value];
  });
  return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>).map((drawn) => {
    for (const [name, { onlyWith }] of Object.entries(fields)) {
      if (onlyWith !== null && drawn[onlyWith] === null) drawn[name] = null;
    }
    return drawn;
  });
}

export const changeOf = (kind: Change['kind']): fc.Arbitrary<Change> =>
  recordOf(fieldsOf(kind)).map((drawn) => ({ kind, ...drawn }) as unknown as Change);

export const KIND_NAMES = CHANGE_KINDS.map(({ kind }) => kind);

export function fieldsOf(kind: Change['kind']): Fields {
  const found = CHANGE_KINDS.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`There is no kind ${kind}.`);
  return found.fields;
}

/**
 * The JSON Schema that a dag may give for its params: the usual words of draft 2020-12, without what refers to elsewhere.
 * A word that would be ignored is refused when the dag is deployed: nobody should believe in a check that is not made.
 */
import type { Problem } from '../errors.ts';
import { LinearPattern } from './linear-pattern.ts';
import { findDefinition, isObject, type ParamsSchema } from './params-schema.ts';
import { problemsOfCost } from './schema-cost.ts';

const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
  time: (text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/.test(text),
  'date-time': (text) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i.test(text) &&
    isDay(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text)),
  email: (text) => text.length <= 320 && /^[^\s@]{1,64}@[^\s@.]{1,63}(\.[^\s@.]{1,63})+$/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
};

/** A day of the calendar: the parser of dates takes the 31st of February for the 3rd of March. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

type Reader = (value: unknown, path: string, look: Look) => void;
interface Look {
  readonly root: unknown;
  readonly problems: Problem[];
  readonly depth: number;
}

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const must =
  (holds: (value: unknown) => boolean, what: string): Reader =>
  (value, path, { problems }) => {
    if (!holds(value)) problems.push({ path, message: `must be ${what}` });
  };
const one: Reader = (value, path, look) => readSchema(value, path, { ...look, depth: look.depth + 1 });
const list: Reader = (value, path, look) => {
  if (!isList(value) || value.length === 0)
    look.problems.push({ path, message: 'must be a list of at least one schema' });
  else value.forEach((each, no) => one(each, `${path}[${no}]`, look));
};
const named: Reader = (value, path, look) => {
  if (!isObject(value)) look.problems.push({ path, message: 'must be schemas by name' });
  else for (const [name, each] of Object.entries(value)) one(each, `${path}.${name}`, look);
};
const anything: Reader = () => undefined;
const count = must(isCount, 'a whole number, 0 or more');
const number = must((value) => typeof value === 'number' && Number.isFinite(value), 'a number');
const texts = must((value) => isList(value) && value.every(isText), 'a list of names');
const text = must(isText, 'text');
const flag = must((value) => typeof value === 'boolean', 'true or false');

const KEYWORDS: Readonly<Record<string, Reader | undefined>> = {
  $schema: text,
  $comment: text,
  title: text,
  description: text,
  default: anything,
  examples: anything,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  $defs: named,
  definitions: named,
  $ref: (value, path, look) => {
    if (!isText(value) || findDefinition(look.root, value) === undefined)
      look.problems.push({ path, message: 'must point to a schema of this one, such as #/$defs/day' });
  },
  type: must(
    (value) =>
      isList(value)
        ? value.length > 0 && value.every((each) => TYPES.includes(each as string))
        : TYPES.includes(value as string),
    `one of ${TYPES.join(', ')}, or a list of them`,
  ),
  enum: must((value) => isList(value) && value.length > 0, 'a list of at least one value'),
  const: anything,
  properties: named,
  additionalProperties: one,
  propertyNames: one,
  required: texts,
  minProperties: count,
  maxProperties: count,
  dependentRequired: must(
    (value) => isObject(value) && Object.values(value).every((names) => isList(names) && names.every(isText)),
    'lists of names, by name',
  ),
  items: one,
  prefixItems: list,
  contains: one,
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  minLength: count,
  maxLength: count,
  pattern: (value, path, { problems }) => {
    const fault = isText(value) ? faultOfPattern(value) : 'must be text';
    if (fault !== null) problems.push({ path, message: fault });
  },
  format: must((value) => isText(value) && Object.hasOwn(FORMATS, value), `one of ${Object.keys(FORMATS).join(', ')}`),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: must((value) => typeof value === 'number' && value > 0, 'a number above 0'),
  allOf: list,
  anyOf: list,
  oneOf: list,
  not: one,
  if: one,
  // biome-ignore lint/suspicious/noThenProperty: it is a word of JSON Schema.
  then: one,
  else: one,
};

/** What is wrong with a schema, each with its place. */
export function problemsOfSchema(schema: unknown, path: string): Problem[] {
  if (Buffer.byteLength(JSON.stringify(schema) ?? '') > MAX_SCHEMA_BYTES) {
    return [{ path, message: `is larger than ${MAX_SCHEMA_BYTES} bytes` }];
  }
  const problems: Problem[] = [];
  readSchema(schema, path, { root: schema, problems, depth: 1 });
  return problems.length > 0 ? problems : problemsOfCost(schema as ParamsSchema, path);
}

function readSchema(schema: unknown, path: string, look: Look): void {
  const { problems, depth } = look;
  if (typeof schema === 'boolean') return;
  if (!isObject(schema)) {
    problems.push({ path, message: 'must be a schema: an object, true or false' });
    return;
  }
  if (depth > MAX_SCHEMA_DEPTH) {
    problems.push({ path, message: `is nested deeper than ${MAX_SCHEMA_DEPTH} levels` });
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword.startsWith('x-')) continue;
    const read = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    const place = `${path}.${keyword}`;
    if (read !== undefined) read(value, place, look);
    else problems.push({ path: place, message: 'is no word of JSON Schema that is checked here' });
  }
}

function faultOfPattern(source: string): string | null {
  const fault = LinearPattern.faultOf(source);
  return fault === null ? null : `is a pattern that can't be used: ${fault}`;
}

/** Params against a dag's schema: what is wrong, each with its place; and what a default stands in for. */
import type { Problem } from '../errors.ts';
import { MAX_PROBLEMS } from '../limits.ts';
import { LinearPattern } from './linear-pattern.ts';
import { FORMATS, findDefinition, type ParamsSchema } from './schema.ts';

export type CheckedParams =
  | { readonly ok: true; readonly params: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Schemas that refer to themselves could go on for ever on a value chosen for it (I68). */
const MAX_LOOKS = 1_000_000;
const MAX_REFERENCES = 100;

/** `params` null means that none were given: with defaults that is an empty object. */
export function checkParams(schema: ParamsSchema, params: unknown): CheckedParams {
  const filled = fillDefaults(schema, params);
  const check = new Check(schema);
  check.look(schema, filled, 'params');
  if (check.gaveUp !== null) return { ok: false, problems: [check.gaveUp] };
  return check.problems.length === 0 ? { ok: true, params: filled } : { ok: false, problems: check.problems };
}

type Keywords = Readonly<Record<string, unknown>>;

/** Of an object's properties, at any depth of plain `properties`. Nothing given, and an object wanted: an empty one. */
function fillDefaults(schema: ParamsSchema, value: unknown): unknown {
  if (typeof schema === 'boolean') return value;
  const properties = schema['properties'] as Readonly<Record<string, ParamsSchema>> | undefined;
  const start = value ?? (schema['default'] !== undefined ? schema['default'] : value);
  const given = start === null && properties !== undefined && mayBe(schema, 'object') ? {} : start;
  if (properties === undefined || typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const filled = new Map(Object.entries(given));
  for (const [name, inner] of Object.entries(properties)) {
    if (filled.has(name)) filled.set(name, filled.get(name) === null ? null : fillDefaults(inner, filled.get(name)));
    else if (typeof inner === 'object' && inner['default'] !== undefined) filled.set(name, inner['default']);
  }
  return Object.fromEntries(filled);
}

function mayBe(schema: Keywords, type: string): boolean {
  const { type: types } = schema;
  return (
    types === undefined || types === type || (Array.isArray(types) && types.includes(type) && !types.includes('null'))
  );
}

class Check {
  readonly problems: Problem[] = [];
  /** Why it was not checked to the end: kept apart, for what an alternative says is forgotten when another fits. */
  gaveUp: Problem | null = null;
  readonly #root: ParamsSchema;
  readonly #patterns = new Map<string, LinearPattern>();
  #looks = 0;
  #references = 0;

  constructor(root: ParamsSchema) {
    this.#root = root;
  }

  look(schema: ParamsSchema | undefined, value: unknown, path: string): void {
    if (schema === undefined || schema === true || this.problems.length >= MAX_PROBLEMS) return;
    if (schema === false) return this.#say(path, 'must not be there');
    this.#looks += 1;
    if (this.#looks > MAX_LOOKS) this.gaveUp ??= { path, message: 'takes too long to check against the schema' };
    if (this.gaveUp !== null) return;
    this.#lookReference(schema, value, path);
    this.#lookValue(schema, value, path);
    if (typeof value === 'string') this.#lookText(schema, value, path);
    else if (typeof value === 'number') this.#lookNumber(schema, value, path);
    else if (Array.isArray(value)) this.#lookList(schema, value, path);
    else if (typeof value === 'object' && value !== null) this.#lookObject(schema, value as Keywords, path);
    this.#lookTogether(schema, value, path);
  }

  #lookReference(schema: Keywords, value: unknown, path: string): void {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return;
    if (this.#references > MAX_REFERENCES) {
      this.gaveUp ??= { path, message: 'is checked by a schema that refers to itself without end' };
      return;
    }
    this.#references += 1;
    this.look(findDefinition(this.#root, $ref), value, path);
    this.#references -= 1;
  }

  #lookValue(schema: Keywords, value: unknown, path: string): void {
    const { type, enum: values } = schema;
    if (type !== undefined) {
      const types = [type].flat() as string[];
      if (!types.some((each) => isOfType(value, each))) {
        this.#say(path, `must be ${types.map(withArticle).join(' or ')}, not ${withArticle(typeName(value))}`);
      }
    }
    if (Array.isArray(values) && !values.some((each) => isSame(each, value))) {
      this.#say(path, `must be one of ${values.slice(0, 20).map(show).join(', ')}${values.length > 20 ? ' …' : ''}`);
    }
    if ('const' in schema && !isSame(schema['const'], value)) this.#say(path, `must be ${show(schema['const'])}`);
  }

  #lookText(schema: Keywords, value: string, path: string): void {
    const { pattern, format } = schema;
    const length = Array.from(value).length;
    this.#bound(schema['minLength'], path, (least) => length < least && `must have at least ${least} characters`);
    this.#bound(schema['maxLength'], path, (most) => length > most && `must have at most ${most} characters`);
    if (typeof pattern === 'string') {
      const known = this.#patterns.get(pattern) ?? new LinearPattern(pattern);
      this.#patterns.set(pattern, known);
      if (!known.test(value)) this.#say(path, `must match ${pattern}`);
    }
    if (typeof format === 'string' && FORMATS[format]?.(value) === false) this.#say(path, `must be a ${format}`);
  }

  #lookNumber(schema: Keywords, value: number, path: string): void {
    this.#bound(schema['minimum'], path, (least) => value < least && `must be ${least} or more`);
    this.#bound(schema['maximum'], path, (most) => value > most && `must be ${most} or less`);
    this.#bound(schema['exclusiveMinimum'], path, (below) => value <= below && `must be more than ${below}`);
    this.#bound(schema['exclusiveMaximum'], path, (above) => value >= above && `must be less than ${above}`);
    this.#bound(schema['multipleOf'], path, (of) => !isMultiple(value, of) && `must be a multiple of ${of}`);
  }

  #lookList(schema: Keywords, value: readonly unknown[], path: string): void {
    const { uniqueItems, contains } = schema;
    this.#bound(schema['minItems'], path, (least) => value.length < least && `must have at least ${least} items`);
    this.#bound(schema['maxItems'], path, (most) => value.length > most && `must have at most ${most} items`);
    const first = (schema['prefixItems'] ?? []) as readonly ParamsSchema[];
    value.forEach((item, no) => {
      this.look(first[no] ?? (schema['items'] as ParamsSchema | undefined), item, `${path}[${no}]`);
    });
    if (uniqueItems === true && new Set(value.map(canonical)).size < value.length)
      this.#say(path, 'must not have an item twice');
    if (contains !== undefined && !value.some((item) => this.#holds(contains as ParamsSchema, item))) {
      this.#say(path, 'must have an item that the schema asks for');
    }
  }

  #lookObject(schema: Keywords, value: Keywords, path: string): void {
    const {
      properties = {},
      additionalProperties,
      propertyNames,
      required = [],
      dependentRequired = {},
    } = schema as {
      properties?: Readonly<Record<string, ParamsSchema>>;
      additionalProperties?: ParamsSchema;
      propertyNames?: ParamsSchema;
      required?: readonly string[];
      dependentRequired?: Readonly<Record<string, readonly string[]>>;
    };
    const names = Object.keys(value);
    this.#bound(schema['minProperties'], path, (least) => names.length < least && `must have at least ${least} fields`);
    this.#bound(schema['maxProperties'], path, (most) => names.length > most && `must have at most ${most} fields`);
    for (const name of required) if (!Object.hasOwn(value, name)) this.#say(inner(path, name), 'is missing');
    for (const [name, others] of Object.entries(dependentRequired)) {
      if (!Object.hasOwn(value, name)) continue;
      for (const other of others)
        if (!Object.hasOwn(value, other)) this.#say(inner(path, other), `is missing: it goes with ${name}`);
    }
    for (const name of names) {
      this.look(propertyNames, name, inner(path, name));
      if (Object.hasOwn(properties, name)) this.look(properties[name], value[name], inner(path, name));
      else if (additionalProperties === false) {
        const known = Object.keys(properties);
        this.#say(
          inner(path, name),
          known.length === 0 ? 'is not known' : `is not known: there are ${known.slice(0, 20).join(', ')}`,
        );
      } else this.look(additionalProperties, value[name], inner(path, name));
    }
  }

  #lookTogether(schema: Keywords, value: unknown, path: string): void {
    const { allOf, anyOf, oneOf, not } = schema as Readonly<Record<string, readonly ParamsSchema[] | undefined>> & {
      readonly not?: ParamsSchema;
    };
    for (const each of allOf ?? []) this.look(each, value, path);
    if (anyOf !== undefined && !anyOf.some((each) => this.#holds(each, value)))
      this.#say(path, 'is none of what it may be');
    if (oneOf !== undefined) {
      const fitting = oneOf.filter((each) => this.#holds(each, value)).length;
      if (fitting !== 1)
        this.#say(path, fitting === 0 ? 'is none of what it may be' : 'is more than one of what it may be');
    }
    if (not !== undefined && this.#holds(not, value)) this.#say(path, 'is what it must not be');
    if (schema['if'] === undefined) return;
    this.look(
      schema[this.#holds(schema['if'] as ParamsSchema, value) ? 'then' : 'else'] as ParamsSchema | undefined,
      value,
      path,
    );
  }

  /** Whether it fits, without a word about it. */
  #holds(schema: ParamsSchema, value: unknown): boolean {
    const before = this.problems.length;
    this.look(schema, value, '');
    return this.problems.splice(before).length === 0;
  }

  #bound(limit: unknown, path: string, faultOf: (limit: number) => string | false): void {
    const fault = typeof limit === 'number' && faultOf(limit);
    if (fault !== false) this.#say(path, fault);
  }

  #say(path: string, message: string): void {
    this.problems.push({ path, message });
  }
}

const inner = (path: string, name: string): string =>
  /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? `${path}.${name}` : `${path}[${show(name)}]`;

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function isOfType(value: unknown, type: string): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeName(value) === type;
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The same for equal values, however their fields are ordered. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join()}}`;
}

const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** In tenths and hundredths too, which have no exact number. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

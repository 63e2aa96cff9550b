/**
 * Checks params against a dag's schema: each problem with its place, and defaults filled in.
 *
 * Two things keep the time within bounds. What a `$ref` found for a value is remembered, so schemas that refer to each other many
 * times cost at most one look for each schema and value, not two to the power of their depth. And everything is charged to a budget.
 */
import { counted } from '../counted.ts';
import type { Problem } from '../errors.ts';
import { MAX_PROBLEMS } from '../limits.ts';
import { CheckBudget } from './check-budget.ts';
import { LinearPattern } from './linear-pattern.ts';
import { findDefinition, type ParamsSchema } from './params-schema.ts';
import { FORMATS } from './schema.ts';

export type CheckedParams =
  | { readonly ok: true; readonly params: unknown }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      /** The budget ran out: nobody knows whether the params fit. */
      readonly isTooCostly: boolean;
    };

const MAX_REFERENCES = 100;
/** Work besides looks, by how much of it is worth one look. Measured within a factor of two. */
const NAMES_PER_LOOK = 4;
const CHARS_PER_LOOK = 64;
const COMPARED_CHARS_PER_LOOK = 8;

/** `params` null means that none were given: with defaults that is an empty object. */
export function checkParams(schema: ParamsSchema, params: unknown, budget = new CheckBudget()): CheckedParams {
  const filled = fillDefaults(schema, params);
  const check = new Check(schema, budget);
  check.look(schema, filled, 'params');
  if (check.gaveUp !== null) return { ok: false, problems: [check.gaveUp], isTooCostly: budget.isSpent };
  if (check.problems.length === 0) return { ok: true, params: filled };
  return { ok: false, problems: check.problems, isTooCostly: false };
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

/** What is worth preparing once per schema, not once per run: a batch has a thousand of them. */
interface Prepared {
  pattern?: LinearPattern;
  /** Canonical texts of `enum` and `const`. */
  values?: ReadonlySet<string>;
  constant?: string;
}
const PREPARED = new WeakMap<object, Prepared>();

function prepared(schema: Keywords): Prepared {
  const known = PREPARED.get(schema);
  if (known !== undefined) return known;
  const made: Prepared = {};
  PREPARED.set(schema, made);
  return made;
}

interface Seen {
  readonly fits: boolean;
  /** Where its problems were told; null when it was only asked whether it fits. */
  readonly toldAt: string | null;
}

class Check {
  readonly problems: Problem[] = [];
  /** Why the check stopped early. Kept apart, because problems of an alternative are forgotten when another one fits. */
  gaveUp: Problem | null = null;
  readonly #root: ParamsSchema;
  readonly #budget: CheckBudget;
  readonly #definitions = new Map<string, ParamsSchema | undefined>();
  readonly #seen = new Map<ParamsSchema, Map<unknown, Seen>>();
  /** Nothing more is looked at with so many problems. */
  #most = MAX_PROBLEMS;
  /** Only whether it fits is asked: no places, no messages. */
  #isQuiet = false;
  #references = 0;

  constructor(root: ParamsSchema, budget: CheckBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  look(schema: ParamsSchema | undefined, value: unknown, path: string): void {
    if (schema === undefined || schema === true || this.problems.length >= this.#most) return;
    if (schema === false) return this.#say(path, 'must not be there');
    this.#charge(1, path);
    if (this.gaveUp !== null) return;
    this.#lookReference(schema, value, path);
    this.#lookValue(schema, value, path);
    if (typeof value === 'string') this.#lookText(schema, value, path);
    else if (typeof value === 'number') this.#lookNumber(schema, value, path);
    else if (Array.isArray(value)) this.#lookList(schema, value, path);
    else if (typeof value === 'object' && value !== null) this.#lookObject(schema, value as Keywords, path);
    this.#lookTogether(schema, value, path);
  }

  #charge(looks: number, path: string): void {
    this.#budget.spend(looks);
    if (this.#budget.isSpent) this.gaveUp ??= { path, message: 'takes too long to check against the schema' };
  }

  /** Whether a value fits does not depend on where it lies, so it is found out once. */
  #lookReference(schema: Keywords, value: unknown, path: string): void {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return;
    const target = this.#definition($ref);
    if (target === undefined) return;
    const known = this.#seenBy(target);
    const seen = known.get(value);
    if (seen?.fits === true) return;
    if (seen !== undefined && this.#isQuiet) return this.#say(path, 'does not fit');
    if (seen !== undefined && seen.toldAt === path) return;
    if (this.#references > MAX_REFERENCES) {
      this.gaveUp ??= { path, message: 'is checked by a schema that refers to itself without end' };
      return;
    }
    const before = this.problems.length;
    this.#references += 1;
    this.look(target, value, path);
    this.#references -= 1;
    if (this.gaveUp !== null) return;
    known.set(value, { fits: this.problems.length === before, toldAt: this.#isQuiet ? null : path });
  }

  #definition($ref: string): ParamsSchema | undefined {
    if (!this.#definitions.has($ref)) this.#definitions.set($ref, findDefinition(this.#root, $ref));
    return this.#definitions.get($ref);
  }

  #seenBy(target: ParamsSchema): Map<unknown, Seen> {
    const known = this.#seen.get(target);
    if (known !== undefined) return known;
    const made = new Map<unknown, Seen>();
    this.#seen.set(target, made);
    return made;
  }

  #lookValue(schema: Keywords, value: unknown, path: string): void {
    const { type, enum: values } = schema;
    if (type !== undefined) {
      const types = [type].flat() as string[];
      if (!types.some((each) => isOfType(value, each))) {
        this.#say(path, () => `must be ${types.map(withArticle).join(' or ')}, not ${withArticle(typeName(value))}`);
      }
    }
    if (Array.isArray(values)) {
      const ready = prepared(schema);
      ready.values ??= new Set(values.map(canonical));
      if (!ready.values.has(this.#canonical(value, path))) {
        this.#say(
          path,
          () => `must be one of ${values.slice(0, 20).map(show).join(', ')}${values.length > 20 ? ' …' : ''}`,
        );
      }
    }
    if ('const' in schema) {
      const ready = prepared(schema);
      ready.constant ??= canonical(schema['const']);
      if (ready.constant !== this.#canonical(value, path)) this.#say(path, () => `must be ${show(schema['const'])}`);
    }
  }

  #canonical(value: unknown, path: string): string {
    const text = canonical(value);
    this.#charge(text.length / COMPARED_CHARS_PER_LOOK, path);
    return text;
  }

  #lookText(schema: Keywords, value: string, path: string): void {
    const { pattern, format, minLength, maxLength } = schema;
    if (minLength !== undefined || maxLength !== undefined) {
      this.#charge(value.length / CHARS_PER_LOOK, path);
      const length = charsOf(value);
      this.#bound(minLength, path, (least) => length < least && `must have at least ${counted(least, 'character')}`);
      this.#bound(maxLength, path, (most) => length > most && `must have at most ${counted(most, 'character')}`);
    }
    if (typeof pattern === 'string' && !this.#isDone) {
      this.#charge(value.length / COMPARED_CHARS_PER_LOOK, path);
      const ready = prepared(schema);
      ready.pattern ??= new LinearPattern(pattern);
      const isMatch = ready.pattern.test(value, (steps) => {
        this.#charge(steps, path);
        return this.gaveUp === null;
      });
      if (!isMatch) this.#say(path, `must match ${pattern}`);
    }
    if (typeof format !== 'string') return;
    this.#charge(value.length / CHARS_PER_LOOK, path);
    if (FORMATS[format]?.(value) === false) this.#say(path, `must be a ${format}`);
  }

  #lookNumber(schema: Keywords, value: number, path: string): void {
    this.#bound(schema['minimum'], path, (least) => value < least && `must be ${least} or more`);
    this.#bound(schema['maximum'], path, (most) => value > most && `must be ${most} or less`);
    this.#bound(schema['exclusiveMinimum'], path, (below) => value <= below && `must be more than ${below}`);
    this.#bound(schema['exclusiveMaximum'], path, (above) => value >= above && `must be less than ${above}`);
    this.#bound(schema['multipleOf'], path, (of) => !isMultiple(value, of) && `must be a multiple of ${of}`);
  }

  #lookList(schema: Keywords, value: readonly unknown[], path: string): void {
    const { uniqueItems, contains, items } = schema;
    this.#bound(
      schema['minItems'],
      path,
      (least) => value.length < least && `must have at least ${counted(least, 'item')}`,
    );
    this.#bound(
      schema['maxItems'],
      path,
      (most) => value.length > most && `must have at most ${counted(most, 'item')}`,
    );
    const first = (schema['prefixItems'] ?? []) as readonly ParamsSchema[];
    const looked = items === undefined ? Math.min(first.length, value.length) : value.length;
    for (let no = 0; no < looked && !this.#isDone; no++) {
      this.look(first[no] ?? (items as ParamsSchema | undefined), value[no], this.#isQuiet ? '' : `${path}[${no}]`);
    }
    if (this.#isDone) return;
    if (uniqueItems === true && new Set(value.map((item) => this.#canonical(item, path))).size < value.length)
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
      dependentRequired,
    } = schema as {
      properties?: Readonly<Record<string, ParamsSchema>>;
      additionalProperties?: ParamsSchema;
      propertyNames?: ParamsSchema;
      required?: readonly string[];
      dependentRequired?: Readonly<Record<string, readonly string[]>>;
    };
    const names = Object.keys(value);
    this.#charge((names.length + required.length) / NAMES_PER_LOOK, path);
    this.#bound(schema['minProperties'], path, (least) => names.length < least && `must have at least ${least} fields`);
    this.#bound(schema['maxProperties'], path, (most) => names.length > most && `must have at most ${most} fields`);
    for (const name of required) if (!Object.hasOwn(value, name)) this.#say(this.#inner(path, name), 'is missing');
    for (const [name, others] of Object.entries(dependentRequired ?? {})) {
      this.#charge((1 + others.length) / NAMES_PER_LOOK, path);
      if (!Object.hasOwn(value, name)) continue;
      for (const other of others)
        if (!Object.hasOwn(value, other)) this.#say(this.#inner(path, other), `is missing: it goes with ${name}`);
    }
    for (const name of names) {
      if (this.#isDone) return;
      const place = this.#inner(path, name);
      this.look(propertyNames, name, place);
      if (Object.hasOwn(properties, name)) this.look(properties[name], value[name], place);
      else if (additionalProperties === false) {
        const known = Object.keys(properties);
        this.#say(place, () =>
          known.length === 0 ? 'is not known' : `is not known: there are ${known.slice(0, 20).join(', ')}`,
        );
      } else this.look(additionalProperties, value[name], place);
    }
  }

  #lookTogether(schema: Keywords, value: unknown, path: string): void {
    const { allOf, anyOf, oneOf, not } = schema as Readonly<Record<string, readonly ParamsSchema[] | undefined>> & {
      readonly not?: ParamsSchema;
    };
    if (this.#isDone) return;
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

  /** Whether it fits, without a word about it: the first problem is enough. */
  #holds(schema: ParamsSchema, value: unknown): boolean {
    const before = this.problems.length;
    const [most, isQuiet] = [this.#most, this.#isQuiet];
    [this.#most, this.#isQuiet] = [before + 1, true];
    this.look(schema, value, '');
    [this.#most, this.#isQuiet] = [most, isQuiet];
    return this.problems.splice(before).length === 0;
  }

  get #isDone(): boolean {
    return this.gaveUp !== null || this.problems.length >= this.#most;
  }

  #inner(path: string, name: string): string {
    return this.#isQuiet ? '' : inner(path, name);
  }

  #bound(limit: unknown, path: string, faultOf: (limit: number) => string | false): void {
    const fault = typeof limit === 'number' && faultOf(limit);
    if (fault !== false) this.#say(path, fault);
  }

  /** A message that is costly to write comes as a function: nobody reads it while only the fit is asked. */
  #say(path: string, message: string | (() => string)): void {
    if (this.problems.length >= this.#most) return;
    const text = typeof message === 'string' ? message : this.#isQuiet ? '' : message();
    this.problems.push({ path, message: text });
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

/** Code points, as JSON Schema counts. */
function charsOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) at += 1;
    count += 1;
  }
  return count;
}

/** In tenths and hundredths too, which have no exact number. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

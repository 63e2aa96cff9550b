/**
 * Schemas that multiply are refused when their dag is deployed. `anyOf: [{$ref: b}, {$ref: b}]`, thirty times one after the other, is a
 * kilobyte of text and a billion looks at one value. Counted here: the schemas that one value may be checked against, with
 * everything that applies to the same value (`allOf`, `anyOf`, `oneOf`, `not`, `if`, `$ref`), each as often as it is reached.
 */
import type { Problem } from '../errors.ts';
import { findDefinition, type ParamsSchema } from './params-schema.ts';

/** Hundreds of alternatives are usual in generated schemas; thousands of looks at one value are not. */
const MAX_LOOKS_AT_ONE_VALUE = 10_000;

type Keywords = Readonly<Record<string, unknown>>;

/** Of a schema that is well-formed. */
export function problemsOfCost(root: ParamsSchema, path: string): Problem[] {
  const cost = new Cost(root, path);
  cost.walk(root, path);
  return cost.problem === null ? [] : [cost.problem];
}

class Cost {
  problem: Problem | null = null;
  readonly #root: ParamsSchema;
  readonly #rootPath: string;
  /** Null while it is being counted: meeting it then means a cycle. */
  readonly #looks = new Map<ParamsSchema, number | null>();

  constructor(root: ParamsSchema, rootPath: string) {
    this.#root = root;
    this.#rootPath = rootPath;
  }

  /** Every schema in the text is counted by itself: each may be the first that a value meets. */
  walk(schema: ParamsSchema, path: string): void {
    if (this.problem !== null || typeof schema === 'boolean') return;
    this.#count(schema, path);
    for (const keyword of BY_NAME) {
      for (const [name, inner] of Object.entries((schema[keyword] ?? {}) as Record<string, ParamsSchema>))
        this.walk(inner, `${path}.${keyword}.${name}`);
    }
    for (const keyword of LISTS) {
      for (const [no, inner] of ((schema[keyword] ?? []) as ParamsSchema[]).entries())
        this.walk(inner, `${path}.${keyword}[${no}]`);
    }
    for (const keyword of SINGLE) {
      if (schema[keyword] !== undefined) this.walk(schema[keyword] as ParamsSchema, `${path}.${keyword}`);
    }
  }

  #count(schema: ParamsSchema, path: string): number {
    if (typeof schema === 'boolean' || this.problem !== null) return 0;
    const known = this.#looks.get(schema);
    if (known === null) {
      this.problem = { path, message: 'refers to itself at the same value, without end' };
      return 0;
    }
    if (known !== undefined) return known;
    this.#looks.set(schema, null);
    let looks = 1;
    for (const [place, inner] of this.#atSameValue(schema, path)) looks += this.#count(inner, place);
    this.#looks.set(schema, looks);
    if (looks > MAX_LOOKS_AT_ONE_VALUE) {
      const message = `multiplies: one value would be checked against more than ${MAX_LOOKS_AT_ONE_VALUE} schemas. Refer to each definition fewer times`;
      this.problem ??= { path, message };
    }
    return looks;
  }

  /** The schemas that apply to the same value as this one, each with its place. */
  *#atSameValue(schema: Keywords, path: string): Generator<[place: string, schema: ParamsSchema]> {
    for (const list of SAME_VALUE_LISTS) {
      for (const [no, each] of ((schema[list] ?? []) as ParamsSchema[]).entries())
        yield [`${path}.${list}[${no}]`, each];
    }
    for (const one of SAME_VALUE) {
      if (schema[one] !== undefined) yield [`${path}.${one}`, schema[one] as ParamsSchema];
    }
    const { $ref } = schema;
    const target = typeof $ref === 'string' ? findDefinition(this.#root, $ref) : undefined;
    if (target !== undefined) yield [`${this.#rootPath}${String($ref).slice(1).replaceAll('/', '.')}`, target];
  }
}

const BY_NAME = ['$defs', 'definitions', 'properties'];
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE = ['not', 'if', 'then', 'else'];
const LISTS = [...SAME_VALUE_LISTS, 'prefixItems'];
const SINGLE = [...SAME_VALUE, 'additionalProperties', 'propertyNames', 'items', 'contains'];

import { expect, test } from 'vitest';
import { checkParams } from './check.ts';
import { CheckBudget } from './check-budget.ts';
import type { ParamsSchema } from './params-schema.ts';
import { problemsOfSchema } from './schema.ts';

const say = (schema: ParamsSchema, value: unknown) => {
  const checked = checkParams(schema, value);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
};

const DAY: ParamsSchema = {
  type: 'object',
  properties: {
    day: { type: 'string', format: 'date' },
    mode: { enum: ['full', 'delta'], default: 'delta' },
    limit: { type: 'integer', minimum: 1, maximum: 10 },
    to: { type: 'object', properties: { host: { type: 'string', default: 'localhost' } } },
  },
  required: ['day'],
  additionalProperties: false,
};

test('every fault has its place and says what would be right', () => {
  expect(say(DAY, { day: '2026-02-31', mode: 'all', limit: 11, dya: 1 })).toEqual([
    'params.day must be a date',
    'params.mode must be one of "full", "delta"',
    'params.limit must be 10 or less',
    'params.dya is not known: there are day, mode, limit, to',
  ]);
  expect(say(DAY, null)).toEqual(['params.day is missing']);
  expect(say(DAY, [])).toEqual(['params must be an object, not an array']);
});

test('defaults stand in for what is not given', () => {
  expect(checkParams(DAY, { day: '2026-11-16', to: {} })).toEqual({
    ok: true,
    params: { day: '2026-11-16', mode: 'delta', to: { host: 'localhost' } },
  });
  expect(checkParams({ properties: { n: { default: 3 } } }, null)).toEqual({ ok: true, params: { n: 3 } });
  expect(checkParams({ type: ['object', 'null'], properties: { n: { default: 3 } } }, null)).toEqual({
    ok: true,
    params: null,
  });
  const given: unknown = JSON.parse('{"__proto__": 1}');
  expect(checkParams(true, given)).toEqual({ ok: true, params: given });
});

test.each<[ParamsSchema, unknown[], unknown[]]>([
  [{ type: 'integer' }, [1, 1.0, -3], [1.5, '1', null, true]],
  [{ type: ['number', 'null'] }, [1.5, null], ['x', {}]],
  [{ const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, 1]],
  [{ multipleOf: 0.01 }, [0.07, 19.99, 4], [0.075]],
  [{ exclusiveMinimum: 0, exclusiveMaximum: 2 }, [1], [0, 2]],
  [{ minLength: 1, maxLength: 2 }, ['a', '😀😀'], ['', 'abc']],
  [{ pattern: '^a+$' }, ['aa'], ['ab']],
  [{ format: 'date-time' }, ['2026-11-16T01:02:03Z'], ['2026-11-16', '2026-02-30T00:00:00Z', 'x']],
  [{ format: 'uuid' }, ['01938b5a-1c5e-7000-8000-000000000000'], ['1']],
  [{ format: 'email' }, ['a@b.example'], ['a@b', '@']],
  [
    { items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true },
    [['a'], ['a', 'b']],
    [[], ['a', 'a'], [1], ['a', 'b', 'c']],
  ],
  [{ prefixItems: [{ type: 'string' }], items: false }, [['a'], []], [['a', 1], [1]]],
  [{ contains: { const: 1 } }, [[0, 1]], [[0], []]],
  [
    { additionalProperties: { type: 'number' }, minProperties: 1, maxProperties: 2 },
    [{ a: 1 }],
    [{}, { a: 'x' }, { a: 1, b: 2, c: 3 }],
  ],
  [{ propertyNames: { pattern: '^[a-z]+$' } }, [{ ab: 1 }], [{ A: 1 }]],
  [{ dependentRequired: { card: ['address'] } }, [{}, { card: 1, address: 2 }], [{ card: 1 }]],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['x', 6], [4]],
  [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [1, 6]],
  [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [0, 4]],
  [{ not: { type: 'string' } }, [1], ['x']],
  [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, ['ab', 3], ['a', 1]],
  [
    { $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } } }, $ref: '#/$defs/tree' },
    [{ left: { left: {} } }],
    [{ left: { left: 1 } }],
  ],
  [false, [], [1, null]],
])('%j takes %j and refuses %j', (schema, good, bad) => {
  expect(problemsOfSchema(schema, 'params')).toEqual([]);
  for (const value of good) expect([value, say(schema, value)]).toEqual([value, []]);
  for (const value of bad) expect([value, say(schema, value).length > 0]).toEqual([value, true]);
});

test('a schema that goes in circles gives up and says so (I68)', () => {
  expect(say({ $ref: '#' }, 1)).toEqual(['params is checked by a schema that refers to itself without end']);
});

/** Two to the power of `levels`, if nothing is remembered. */
function doubling(levels: number, word: 'anyOf' | 'oneOf' | 'allOf' | 'not', last: object): ParamsSchema {
  const $defs: Record<string, object> = { [`d${levels}`]: last };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = word === 'not' ? { not: next, anyOf: [next, {}] } : { [word]: [next, next] };
  }
  return { $defs, $ref: '#/$defs/d0' };
}

const looksFor = (schema: ParamsSchema, value: unknown): number => {
  const budget = new CheckBudget(1_000_000);
  checkParams(schema, value, budget);
  return 1_000_000 - budget.left;
};

test.each<[string, ParamsSchema, unknown]>([
  ['anyOf', doubling(30, 'anyOf', { required: ['missing'] }), {}],
  ['oneOf', doubling(30, 'oneOf', { required: ['missing'] }), {}],
  ['allOf', doubling(30, 'allOf', { required: ['missing'] }), {}],
  ['anyOf of a text', doubling(30, 'anyOf', { type: 'number' }), 'x'],
  ['not', doubling(30, 'not', { type: 'number' }), 'x'],
])('what a $ref found is remembered: %s of doubled references costs few looks (I68)', (_, schema, value) => {
  expect(looksFor(schema, value)).toBeLessThan(1_000);
});

test('a recursive schema with alternatives costs looks by the size of the value, not two to the power of its depth', () => {
  const expression = { $ref: '#/$defs/expression' };
  const $defs = {
    expression: {
      anyOf: [
        { required: ['and'], properties: { and: { items: expression } } },
        { properties: { or: { items: expression }, and: { items: expression } } },
        { properties: { value: { type: 'number' } }, required: ['value'] },
      ],
    },
  };
  const deep = Array.from({ length: 25 }).reduce<object>((inner) => ({ and: [inner] }), { and: [{ value: 'x' }] });
  expect(looksFor({ $defs, ...expression }, deep)).toBeLessThan(2_000);
});

test('each place of a wrong value is told, though what its schema found is remembered', () => {
  const schema = { $defs: { day: { format: 'date' } }, items: { $ref: '#/$defs/day' } };
  expect(say(schema, ['x', '2026-11-16', 'x'])).toEqual(['params[0] must be a date', 'params[2] must be a date']);
});

test.each<[string, ParamsSchema, unknown]>([
  ['a pattern of many states over a long text', { pattern: '(a{0,200}){2}b' }, 'a'.repeat(200_000)],
  [
    'alternatives over a long list',
    { anyOf: Array.from({ length: 500 }, (_, no) => ({ contains: { const: no } })) },
    Array(5_000).fill(-1),
  ],
  [
    'a long list compared many times',
    { anyOf: Array.from({ length: 500 }, (_, no) => ({ enum: [no] })) },
    Array(50_000).fill(1),
  ],
  [
    'many fields looked at many times',
    { anyOf: Array.from({ length: 500 }, (_, no) => ({ required: [`x${no}`] })) },
    Object.fromEntries(Array.from({ length: 20_000 }, (_, no) => [`f${no}`, 1])),
  ],
])('%s is charged, and given up when the budget is spent (I68)', (_, schema, value) => {
  const began = process.cpuUsage();
  const checked = checkParams(schema, value, new CheckBudget(50_000));
  const { user, system } = process.cpuUsage(began);
  // 50,000 looks are 20 ms, and what this guards against took seconds. Time of the processor: a busy machine is no fault.
  expect((user + system) / 1_000).toBeLessThan(1_000);
  expect(checked).toMatchObject({ ok: false, isTooCostly: true });
});

test('one budget serves several checks', () => {
  const budget = new CheckBudget(100);
  const list = Array(60).fill(1);
  expect(checkParams({ items: { type: 'number' } }, list, budget)).toMatchObject({ ok: true });
  expect(checkParams({ items: { type: 'number' } }, list, budget)).toMatchObject({ ok: false, isTooCostly: true });
});

test.each<[unknown, string]>([
  [{ type: 'text' }, 'params.type must be one of'],
  [{ properties: { a: { minimun: 1 } } }, 'params.properties.a.minimun is no word'],
  [{ $ref: 'https://example.com/x' }, 'params.$ref must point to a schema of this one'],
  [{ $ref: '#/$defs/__proto__' }, 'params.$ref must point'],
  [{ pattern: '(?=x)' }, "params.pattern is a pattern that can't be used"],
  [{ format: 'color' }, 'params.format must be one of'],
  [{ enum: [] }, 'params.enum must be a list'],
  [{ allOf: {} }, 'params.allOf must be a list'],
  [{ minLength: -1 }, 'params.minLength must be a whole number'],
  [7, 'params must be a schema'],
  [{ const: 'x'.repeat(70_000) }, 'params is larger than'],
  [doubling(30, 'anyOf', {}), 'params.$defs.d18 multiplies'],
  [doubling(30, 'allOf', {}), 'multiplies'],
  [{ $ref: '#' }, 'refers to itself at the same value'],
  [{ $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }, 'refers to itself at the same value'],
  [
    { properties: { default: { $ref: '#/$defs/a' }, allOf: {} }, $defs: { a: { not: { $ref: '#/$defs/a' } } } },
    'params.$defs.a refers',
  ],
  [Array.from({ length: 40 }).reduce<object>((inner) => ({ not: inner }), {}), 'nested deeper'],
])('the schema %j is refused: %s', (schema, message) => {
  const problems = problemsOfSchema(schema, 'params').map((each) => `${each.path} ${each.message}`);
  expect(problems).toEqual([expect.stringContaining(message)]);
});

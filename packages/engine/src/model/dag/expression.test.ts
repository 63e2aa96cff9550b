import { expect, test } from 'vitest';
import { type Fact, isTruthy, type Json } from '../task/fact.ts';
import { type Comparison, type Expression, evaluate, type FunctionName } from './expression.ts';

/** Values are taken as facts: by their number. */
function outcome(expression: Expression, facts: readonly Fact[] = []): Json | string {
  const source = {
    ofTask: (_: number, fact: number) => facts[fact]!,
    ofParams: (fact: number) => facts[fact]!,
    ofError: () => ({ v: null }),
  };
  const found = evaluate(expression, source);
  return found.ok ? ('v' in found.fact ? found.fact.v : 'large') : `fault: ${found.fault}`;
}
const [first, second]: Expression[] = [
  { op: 'params', fact: 0 },
  { op: 'task', task: 0, fact: 1 },
] as const;
const v = (value: Json): Fact => ({ v: value });
const large = (of: 'text' | 'list', length: number): Fact => ({ of, length });

test.each<[Fact, Comparison, Fact, Json | RegExp]>([
  [v(1), 'eq', v(1), true],
  [v(1), 'eq', v('1'), false],
  [v(null), 'eq', v(false), false],
  [v({ a: 1, b: [2] }), 'eq', v({ b: [2], a: 1 }), true],
  [v([1, 2]), 'ne', v([2, 1]), true],
  [v(1), 'lt', v(2), true],
  [v('b'), 'ge', v('a'), true],
  [v(2), 'le', v(1), false],
  [v(1), 'gt', v('1'), /^fault: number > text has no answer/],
  [v(null), 'lt', v(3), /^fault: null < number/],
  [large('list', 5_000), 'eq', v(null), false],
  [large('list', 5_000), 'ne', v('x'), true],
  [large('text', 5_000), 'eq', large('text', 5_001), false],
  [large('text', 5_000), 'eq', large('text', 5_000), /1 KiB/],
  [large('list', 5_000), 'gt', v(3), /^fault: list > number/],
])('%j %s %j is %s', (a, op, b, wanted) => {
  const found = outcome({ op, left: first, right: second }, [a, b]);
  if (wanted instanceof RegExp) expect(found).toMatch(wanted);
  else expect(found).toBe(wanted);
});

test.each<[FunctionName, Fact, Fact, Json | RegExp]>([
  ['length', v('four'), v(null), 4],
  ['length', v([1, 2]), v(null), 2],
  ['length', v({ a: 1 }), v(null), 1],
  ['length', large('list', 70_000), v(null), 70_000],
  ['length', v(null), v(null), /length takes a text, a list or an object, not null/],
  ['contains', v('haystack'), v('hay'), true],
  ['contains', v([{ a: 1 }, 2]), v({ a: 1 }), true],
  ['contains', v(['1']), v(1), false],
  ['contains', v(5), v(5), /contains takes a text or a list, not number/],
  ['contains', large('list', 5_000), v(1), /1 KiB/],
  ['starts_with', v('abc'), v('ab'), true],
  ['ends_with', v('abc'), v('ab'), false],
  ['ends_with', v('abc'), v(1), /ends_with takes a text, not number/],
  ['defined', v(null), v(null), false],
  ['defined', v(false), v(null), true],
  ['defined', large('text', 2_000), v(null), true],
])('%s(%j, %j) is %s', (name, a, b, wanted) => {
  const found = outcome({ op: 'call', name, args: [first, second] }, [a, b]);
  if (wanted instanceof RegExp) expect(found).toMatch(wanted);
  else expect(found).toBe(wanted);
});

test('what decides is found from the left, and what stands behind it is not at fault', () => {
  const fault: Expression = { op: 'lt', left: { op: 'value', value: null }, right: { op: 'value', value: 1 } };
  const [yes, no]: Expression[] = [
    { op: 'value', value: 'x' },
    { op: 'value', value: 0 },
  ] as const;
  expect(outcome({ op: 'or', of: [no, yes, fault] })).toBe(true);
  expect(outcome({ op: 'and', of: [yes, no, fault] })).toBe(false);
  expect(outcome({ op: 'and', of: [yes, fault] })).toMatch(/^fault/);
  expect(outcome({ op: 'not', of: fault })).toMatch(/^fault/);
  expect(outcome({ op: 'in', left: first, list: [yes, no] }, [v(0)])).toBe(true);
});

test.each<[Fact, boolean]>([
  [v(null), false],
  [v(false), false],
  [v(0), false],
  [v(''), false],
  [v([]), false],
  [v({}), false],
  [v('0'), true],
  [v([0]), true],
  [large('text', 5_000), true],
])('%j counts as %s', (fact, wanted) => {
  expect(isTruthy(fact)).toBe(wanted);
});

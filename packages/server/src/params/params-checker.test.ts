import { CheckBudget, type ParamsSchema } from '@signalbox/protocol';
import { afterEach, expect, test } from 'vitest';
import { type CheckRequest, ParamsChecker } from './params-checker.ts';

let checker = new ParamsChecker();
afterEach(() => {
  checker.close();
  checker = new ParamsChecker();
});

/** Five hundred alternatives, each with a look at all items. */
const COSTLY: ParamsSchema = { anyOf: Array.from({ length: 500 }, (_, no) => ({ contains: { const: no } })) };
const list = (items: number) => JSON.stringify(Array(items).fill(-1));
const ask = (texts: string[], more: Partial<CheckRequest> = {}) =>
  checker.check({
    schema: COSTLY,
    texts,
    budget: checker.budgetFor({}, texts),
    caller: 'a',
    withinMs: 30_000,
    ...more,
  });

test('one request has one budget, whatever its runs are and to however many dags they go', async () => {
  const request = {};
  const texts = Array<string>(16).fill(list(20));
  const budget = checker.budgetFor(request, texts);
  expect(await ask(texts, { budget })).toMatchObject({
    kind: 'tooCostly',
    problem: { message: expect.stringContaining('takes too long') },
  });
  const again = checker.budgetFor(request, texts);
  expect(again).toBe(budget);
  expect(again.granted).toBeLessThan(300_000);
});

test('a budget grows with what the request brings, up to a limit', () => {
  expect(checker.budgetFor({}, ['x'.repeat(1_000)]).left).toBe(132_000);
  expect(checker.budgetFor({}, Array<string>(100).fill('x'.repeat(100_000))).left).toBe(2_000_000);
});

test('large params are checked on the thread, with the result that a small check has', async () => {
  const schema: ParamsSchema = { items: { type: 'integer' }, default: [] };
  expect(await ask([list(40_000)], { schema })).toEqual({ kind: 'fit', texts: [list(40_000)] });
  const wrong = JSON.stringify([...Array(40_000).fill(-1), 'x']);
  expect(await ask([wrong, list(1)], { schema })).toEqual({
    kind: 'wrong',
    problems: [{ path: 'runs[0].params[40000]', message: 'must be an integer, not a string' }],
  });
});

test('a caller has few checks waiting on the thread, and does not keep another from its turn', async () => {
  const order: string[] = [];
  const costly = (caller: string) =>
    ask([list(30_000)], { caller, budget: new CheckBudget(100_000) }).finally(() => order.push(caller));
  const flood = Array.from({ length: 12 }, () => costly('a'));
  const other = costly('b');
  const settled = await Promise.allSettled(flood);
  await other;
  const refused = settled.filter((each) => each.status === 'rejected');
  // One runs, four wait.
  expect(refused).toHaveLength(7);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'RATE_LIMITED' });
  const finished = order.slice(7);
  expect(finished.indexOf('b')).toBeLessThanOrEqual(2);
});

test('defaults do not make a small batch large', async () => {
  const schema: ParamsSchema = { properties: { a: { default: 'x'.repeat(60_000) } } };
  expect(await ask(Array<string>(1_000).fill('{}'), { schema })).toEqual({ kind: 'tooLarge', limit: 8 * 1024 * 1024 });
});

import { expect, test } from 'vitest';
import { parseOr } from './common.ts';
import { idempotencyKeySchema, listRunsSchema, submitBatchSchema, submitSchema } from './runs.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

test.each([
  ['no body at all', submitSchema, undefined],
  ['an unknown field', submitSchema, { param: 1 }],
  ['params nested too deep', submitSchema, { params: nested(65) }],
  ['params nested absurdly deep', submitSchema, { params: nested(9_000) }],
  ['params too large', submitSchema, { params: 'x'.repeat(256 * 1024) }],
  ['params too large once written as UTF-8', submitSchema, { params: '€'.repeat(100_000) }],
  ['params of very many parts', submitSchema, { params: new Array(300_000).fill(0) }],
  ['an empty batch', submitBatchSchema, { runs: [] }],
  ['a batch of 1,001', submitBatchSchema, { runs: new Array(1_001).fill({}) }],
  ['a key with a line break', idempotencyKeySchema, 'a\nb'],
  ['an empty key', idempotencyKeySchema, ''],
  ['a key too long', idempotencyKeySchema, 'k'.repeat(256)],
  ['a page too large', listRunsSchema, { limit: '501' }],
  ['a page of nothing', listRunsSchema, { limit: '0' }],
  ['a limit that is no number', listRunsSchema, { limit: 'all' }],
  ['an unknown state', listRunsSchema, { state: 'done' }],
  ['a filter given twice', listRunsSchema, { dag: ['a', 'b'] }],
])('%s is refused (I68)', (_, schema, input) => {
  expect(() => parseOr<unknown>(schema, input, 'BAD_REQUEST')).toThrow(
    expect.objectContaining({ code: 'BAD_REQUEST', details: { problems: expect.any(Array) } }),
  );
});

test.each([
  [submitSchema, {}, {}],
  [submitSchema, { params: null }, { params: null }],
  [submitSchema, { params: { a: [1, 'b'] }, priority: 'high' }, { params: { a: [1, 'b'] }, priority: 'high' }],
  [submitSchema, { params: nested(64) }, { params: nested(64) }],
  [listRunsSchema, {}, { limit: 50 }],
  [listRunsSchema, { dag: 'd', limit: '20' }, { dag: 'd', limit: 20 }],
])('%# is taken as it is meant', (schema, input, expected) => {
  expect(parseOr<unknown>(schema, input, 'BAD_REQUEST')).toEqual(expected);
});

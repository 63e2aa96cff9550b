import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { ERRORS, type ErrorCode, isErrorCode, problem, SignalboxError } from './errors.ts';

const codes = Object.keys(ERRORS) as ErrorCode[];

test.each(codes)('%s has a status on both wires, a sentence and a remedy', (code) => {
  const { http, grpc, message, remedy } = ERRORS[code];
  expect(http).toBeGreaterThanOrEqual(400);
  expect(status[grpc]).toBeTypeOf('number');
  for (const sentence of [message, remedy]) expect(sentence).toMatch(/^[A-Z{].*\.$/);
});

test('the body is that of RFC 9457, with its details filled in', () => {
  expect(problem('STALE_TOKEN', { task: 'load' })).toEqual({
    type: 'urn:signalbox:error:stale_token',
    title: 'Stale token',
    status: 409,
    detail: 'This attempt no longer owns task load.',
    code: 'STALE_TOKEN',
    retryable: false,
    remedy: expect.any(String),
  });
  expect(problem('OVERLOADED', { retryAfterMs: 500 })).toMatchObject({
    status: 503,
    retryable: true,
    retryAfterMs: 500,
  });
});

test.each([
  ['a line break', 'a\r\nSet-Cookie: x', 'Dag a\u{fffd}\u{fffd}Set-Cookie: x does not exist.'],
  ['a long text', 'x'.repeat(1_000), `Dag ${'x'.repeat(200)}… does not exist.`],
  ['a pattern of replacement', '$&$1', 'Dag $&$1 does not exist.'],
  ['braces', '{dag}', 'Dag {dag} does not exist.'],
])('%s from a caller is only data in a message (I69)', (_, dag, expected) => {
  expect(problem('DAG_NOT_FOUND', { dag }).detail).toBe(expected);
});

test('an error tells its places to people and its code to programs', () => {
  const error = new SignalboxError('BAD_REQUEST', { problems: [{ path: 'params', message: 'is too deep' }] });
  expect(error.message).toBe('The request is invalid. params is too deep');
  expect(error.body().problems).toEqual([{ path: 'params', message: 'is too deep' }]);
  expect([isErrorCode('BAD_REQUEST'), isErrorCode('toString'), isErrorCode(undefined)]).toEqual([true, false, false]);
});

test('the cause of a problem stays inside: callers see its place and its sentence', () => {
  const cause = { code: 'unknown_task', name: 'laod' } as const;
  const problems = [{ path: 'tasks[1].needs[0]', message: 'there is no task laod', cause }];
  const { problems: told } = problem('DAG_INVALID', { dag: 'd', problems });
  expect(told).toEqual([{ path: 'tasks[1].needs[0]', message: 'there is no task laod' }]);
});

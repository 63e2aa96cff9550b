import { expect, test } from 'vitest';
import { toDagSpec } from './dag-spec.ts';

const withTask = (fields: object, ofDag: object = {}) => ({
  name: 'd',
  ...ofDag,
  tasks: [{ name: 'a', handler: 'h', ...fields }],
});
const taskOf = (fields: object) => toDagSpec(withTask(fields)).spec.tasks[0];

test('what a task may have of memory and time comes out in bytes and milliseconds', () => {
  const times = { queueTimeout: '10m', stuckAfter: '5m', totalTimeout: '2h', softTimeout: '1s' };
  expect(taskOf({ memory: '512MiB', onResource: { max: '4GiB' }, ...times })).toMatchObject({
    memoryBytes: 512 * 2 ** 20,
    onResource: { factor: 2, maxBytes: 4 * 2 ** 30 },
    queueTimeoutMs: 600_000,
    stuckMs: 300_000,
    totalTimeoutMs: 7_200_000,
    softTimeoutMs: 1_000,
  });
  expect(toDagSpec(withTask({}, { timeout: '1h', softTimeout: '30m' })).spec).toMatchObject({
    timeoutMs: 3_600_000,
    softTimeoutMs: 1_800_000,
  });
});

test('a task that says nothing of it has nothing of it: its version stays the same', () => {
  expect(Object.keys(taskOf({}) ?? {}).sort()).toEqual(['handler', 'name', 'needs', 'queue', 'retry', 'timeoutMs']);
  expect(Object.keys(taskOf({ retries: { codes: [], errors: [], budgets: {} } })?.retry ?? {})).toHaveLength(6);
});

test.each([
  [{ memory: '1KiB' }, 'tasks[0].memory'],
  [{ memory: 'much' }, 'tasks[0].memory'],
  [{ onResource: { max: '1GiB' } }, 'tasks[0].onResource'],
  [{ memory: '2GiB', onResource: { max: '1GiB' } }, 'tasks[0].onResource.max'],
  [{ timeout: '1m', softTimeout: '1m' }, 'tasks[0].softTimeout'],
  [{ totalTimeout: '1m', stuckAfter: '2m' }, 'tasks[0].stuckAfter'],
  [{ retries: { on: ['lost'] } }, 'tasks[0].retries.on[0]'],
  [{ retries: { codes: [{ match: 'a*b', retry: true }] } }, 'tasks[0].retries.codes[0].match'],
  [{ retries: { errors: [{ match: '**', retry: true }] } }, 'tasks[0].retries.errors[0].match'],
  [{ retries: { errors: [{ match: 'x'.repeat(201), retry: true }] } }, 'tasks[0].retries.errors[0].match'],
  [{ retries: { codes: Array(21).fill({ match: 'a', retry: true }) } }, 'tasks[0].retries.codes'],
  [{ retries: { budgets: { timeout: 0 } } }, 'tasks[0].retries.budgets.timeout'],
])('%j is refused, with its place (I38, I68)', (fields, path) => {
  expect(() => toDagSpec(withTask(fields))).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ problems: [expect.objectContaining({ path })] }) }),
  );
});

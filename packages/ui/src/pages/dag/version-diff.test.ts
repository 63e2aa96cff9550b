import type { VersionView } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { differencesOf } from './version-diff.ts';

const task = (more: object = {}) => ({
  ...{ name: 'load', kind: 'process', queue: 'default', needs: ['extract'], rule: 'all_success', timeoutMs: null },
  retries: { maxAttempts: 2, minMs: 0, baseMs: 1_000, factor: 2, maxMs: 300_000, maxLost: 10 },
  ...{ limits: {}, work: { script: 'true' }, ...more },
});
const version = (...tasks: readonly object[]) =>
  ({ name: 'nightly', tasks, bundle: null, tags: ['a'] }) as never as VersionView;
const texts = (before: object, after: object) =>
  differencesOf(version(before), version(after)).map(({ subject, text }) => `${subject}: ${text}`);

test('changes of a task are named with their units', () => {
  const retries = { ...task().retries, maxAttempts: 5, baseMs: 60 };
  expect(texts(task(), task({ retries, timeoutMs: 90_000 }))).toEqual([
    'load: timeout none → 1 min 30 s',
    'load: attempts 2 → 5',
    'load: first backoff 1 s → 60 ms',
  ]);
  const limits = { memoryBytes: 512_000_000, pool: { name: 'database', slots: 2 } };
  expect(texts(task(), task({ limits, needs: ['extract', 'check'] }))).toEqual([
    'load: memory none → 512.0 MB',
    'load: pool none → {"name":"database","slots":2}',
    'load: now needs check',
  ]);
});

test('what differs only in the part of a long value that is cut is still a change', () => {
  const script = (end: string) => task({ work: { script: `${'x'.repeat(300)}${end}` } });
  expect(texts(script('a'), script('b'))).toEqual(['load: work changed']);
  expect(texts(script('a'), script('a'))).toEqual([]);
});

test('tasks that came and went are named, and new code', () => {
  const [before, after] = [version(task()), version(task({ name: 'report' }))];
  expect(differencesOf(before, { ...after, bundle: 'new' }).map(({ subject, text }) => `${subject}: ${text}`)).toEqual([
    'nightly: the code of its functions changed',
    'report: added',
    'load: removed',
  ]);
});

import { expect, test } from 'vitest';
import { RUN_ID, runView, taskView } from '../testing/run-view.ts';
import { PlainView } from './plain-lines.ts';

test('a line per change of a task, and none when nothing has changed', () => {
  const lines: string[] = [];
  const view = new PlainView((line) => lines.push(line));
  const first = runView([taskView('a', 'running'), taskView('b', 'blocked')]);
  view.show(first);
  view.show(first);
  view.show(runView([taskView('a', 'retrying', { error: 'Error: once\nat x' }), taskView('b', 'blocked')]));
  view.show(runView([taskView('a', 'running', { attempt: 2 }), taskView('b', 'blocked')]));
  view.show(runView([taskView('a', 'succeeded', { attempt: 2 }), taskView('b', 'running')]));
  expect(lines).toEqual([
    `run ${RUN_ID} of demo, version 1`,
    '  a running attempt 1',
    '  a retrying attempt 1: Error: once',
    '  a running attempt 2',
    '  a succeeded attempt 2 after 0 ms',
    '  b running attempt 1',
  ]);
});

test('a task that runs another dag says which run it waits for, once there is one', () => {
  const lines: string[] = [];
  const view = new PlainView((line) => lines.push(line));
  const waiting = (run: string | null) => runView([taskView('a', 'waiting', { child: { dag: 'other', run } })]);
  view.show(waiting(null));
  view.show(waiting(RUN_ID));
  view.show(waiting(RUN_ID));
  expect(lines.slice(1)).toEqual(['  a waiting attempt 1', `  a waiting attempt 1 for run ${RUN_ID} of other`]);
});

const attempt = (no: number, outcome: 'transient' | 'succeeded', error: string | null) => ({
  attempt: no,
  worker: null,
  claimedAt: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:00.250Z',
  outcome,
  code: null,
  error,
  speculative: false,
  cpuMs: null,
  peakMemoryBytes: null,
  child: null,
});

test('every attempt has its line, also those that came and went between two looks', () => {
  const lines: string[] = [];
  const view = new PlainView((line) => lines.push(line));
  view.show(runView([taskView('a', 'running')]));
  const attempts = [
    attempt(1, 'transient', 'Error: one\nat x'),
    attempt(2, 'transient', 'Error: two'),
    attempt(3, 'transient', 'Error: three'),
  ];
  view.show(runView([taskView('a', 'failed', { attempt: 3, attempts, error: 'Error: three' })]));
  view.show(runView([taskView('a', 'failed', { attempt: 3, attempts, error: 'Error: three' })]));
  expect(lines.slice(1)).toEqual([
    '  a running attempt 1',
    '  a attempt 1 ended: transient after 250 ms: Error: one',
    '  a attempt 2 ended: transient after 250 ms: Error: two',
    '  a failed attempt 3 after 0 ms: Error: three',
  ]);
});

test('what holds a task, or its run, is told once', () => {
  const lines: string[] = [];
  const view = new PlainView((line) => lines.push(line));
  const why = { code: 'no_worker', message: 'No worker serves queue "gpu".', until: null } as const;
  const held = runView([taskView('a', 'ready', { why })], { why: { ...why, message: `Task a: ${why.message}` } });
  view.show(held);
  view.show(held);
  const paused = { code: 'run_paused', message: 'The run is paused, by ada.', until: null } as const;
  view.show(runView([taskView('a', 'ready', { why: paused })], { why: paused }));
  view.show(runView([taskView('a', 'ready', { why: paused })], { why: paused }));
  expect(lines.slice(1)).toEqual([
    '  a ready: No worker serves queue "gpu".',
    '  a ready',
    '  The run is paused, by ada.',
  ]);
});

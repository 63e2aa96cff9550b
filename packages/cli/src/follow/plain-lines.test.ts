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

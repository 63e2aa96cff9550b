import { describe, expect, test } from 'vitest';
import type { Expression } from '../model/dag/expression.ts';
import { type Scenario, scenario } from '../testing/scenario.ts';
import { dag, task } from '../testing/specs.ts';

const isEqual = (of: 'class' | 'code', value: string | null): Expression => ({
  op: 'eq',
  left: { op: 'error', task: 0, of },
  right: { op: 'value', value },
});
const when = (expression: Expression) => ({ when: { text: '…', expression } });

/** Which of the tasks behind `load` are to run, by why it failed; `keep` keeps the run open. */
const spec = dag([
  task('load', [], { tellsError: true, retry: { maxAttempts: 2 }, queueTimeoutMs: 60_000 }),
  task('timeout', [0], { rule: 'all_done', ...when(isEqual('class', 'timeout')) }),
  task('permanent', [0], { rule: 'all_done', ...when(isEqual('class', 'permanent')) }),
  task('exit3', [0], { rule: 'all_done', ...when(isEqual('code', 'exit:3')) }),
  task('queue', [0], { rule: 'all_done', ...when(isEqual('code', 'timeout:queue')) }),
  task('cancelled', [0], { rule: 'all_done', ...when(isEqual('class', 'cancelled')) }),
  task('none', [0], { rule: 'all_done', ...when(isEqual('class', null)) }),
  task('keep', [], { queue: 'nobody' }),
]);
const BEHIND = ['timeout', 'permanent', 'exit3', 'queue', 'cancelled', 'none'];
const chosen = (box: Scenario) => BEHIND.filter((name) => box.task(name).state !== 'skipped');

describe.each(['live', 'loaded'])('a condition on why a task failed (%s)', (how) => {
  const look = (box: Scenario) => {
    if (how === 'loaded') box.killOwner();
    return chosen(box);
  };

  test('sees the class and the code of its last attempt', () => {
    const box = scenario({ dag: spec });
    box.report(box.claim('load'), 'permanent', { code: 'exit:3' });
    expect(look(box)).toEqual(['permanent', 'exit3']);
  });

  test('is not looked at while another attempt follows', () => {
    const box = scenario({ dag: spec });
    box.report(box.claim('load'), 'transient', { code: 'exit:3' });
    expect(look(box)).toEqual(BEHIND);
    expect(box.task('none').state).toBe('blocked');
  });

  test('sees nothing of one that succeeded, or that somebody has marked', () => {
    const box = scenario({ dag: spec });
    box.report(box.claim('load'), 'permanent', { code: 'exit:3' });
    for (const mark of ['succeeded', 'failed', 'skipped'] as const) {
      box.mark('load', mark);
      expect(look(box)).toEqual(['none']);
    }
  });

  test('sees one that waited too long for a worker, and one that was cancelled', () => {
    const box = scenario({ dag: spec, workers: [] });
    box.advance('61s');
    expect(look(box)).toEqual(['timeout', 'queue']);
    const other = scenario({ dag: spec });
    other.mark('load', 'cancelled');
    expect(look(other)).toEqual(['cancelled']);
  });

  test('forgets the failure when the task runs again', () => {
    const box = scenario({ dag: spec });
    box.report(box.claim('load'), 'permanent', { code: 'exit:3' });
    box.retry('load');
    expect(box.task('permanent').state).toBe('blocked');
    const attempt = box.claim('load');
    if (how === 'loaded') box.killOwner();
    box.report(attempt, 'permanent');
    expect(look(box)).toEqual(['permanent']);
  });
});

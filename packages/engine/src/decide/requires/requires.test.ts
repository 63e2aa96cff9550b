import { describe, expect, test } from 'vitest';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { DagId, RunId } from '../../model/ids.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job, type Span } from '../../testing/specs.ts';

const MINUTELY = '* * * * *';

/** `report` requires of `load`; both fire each minute. */
function pair(policy: Partial<ScheduleSpec>, { maxActiveRuns = null as number | null } = {}): Scenario {
  const box = scenario({ workers: ['w1'] });
  box.deploy(job({ schedule: every(MINUTELY) }), 'load');
  const requires = [{ dag: 'load', window: 'same' as const }];
  box.deploy(job({ schedule: every(MINUTELY, { requires, ...policy }), maxActiveRuns }), 'report');
  return box;
}

const dagOf = (box: Scenario, name: string) =>
  box.changes('DagDeployed').find((change) => change.name === name)?.dagId as DagId;

function runsOf(box: Scenario, name: string): RunId[] {
  const dagId = dagOf(box, name);
  return box.changes('RunCreated').flatMap((change) => (change.dagId === dagId ? [change.runId] : []));
}

/** The dags of all tasks that can be claimed now; ends them. */
function work(box: Scenario, outcome: 'succeeded' | 'permanent' = 'succeeded'): string[] {
  const names: string[] = [];
  for (let one = box.tryClaim(); one !== null; one = box.tryClaim()) {
    names.push(runsOf(box, 'load').includes(one.claim.runId) ? 'load' : 'report');
    box.report(one, outcome);
  }
  return names.sort();
}

const minute = (box: Scenario, more: Span = '10ms') => box.advance('1m', [box.worker()]).advance(more);
const unmetOf = (box: Scenario, runId: RunId) =>
  JSON.parse(box.node.store.runsStored().find((run) => run.runId === runId)?.notes ?? '{}').unmet;

test('a run waits until the other dag has succeeded for the same window, also over handovers', () => {
  const box = minute(pair({ waitMs: 600_000 }));
  box.killOwner();
  expect(box.run(runsOf(box, 'report')[0])).toMatchObject({ phase: 'open', admitted: false });
  expect(work(box)).toEqual(['load']);
  box.killOwner().advance('6s');
  expect(work(box)).toEqual(['report']);
  expect(unmetOf(box, runsOf(box, 'report')[0]!)).toBeUndefined();
});

test('it has no place among the active runs meanwhile, and is in nobody’s way', () => {
  const box = minute(pair({ waitMs: 600_000 }, { maxActiveRuns: 1 }));
  const [first] = runsOf(box, 'report');
  expect(work(box, 'permanent')).toEqual(['load']);
  minute(box);
  expect(work(box)).toEqual(['load']);
  box.advance('6s');
  expect(work(box)).toEqual(['report']);
  expect(box.run(first)).toMatchObject({ phase: 'open', admitted: false });
});

describe('when it is not met in time', () => {
  test.each([
    ['skip', { phase: 'ended', outcome: 'cancelled' }, 'unmet'],
    ['fail', { phase: 'ended', outcome: 'failed' }, null],
  ] as const)('%s; its window says whether it was skipped (I2)', (unmet, expected, skipped) => {
    const box = minute(pair({ unmet, waitMs: 20_000 }));
    const [runId] = runsOf(box, 'report');
    box.advance('15s', [box.worker()]);
    expect(box.run(runId).phase).toBe('open');
    box.killOwner().advance('6s', [box.worker()]);
    expect(box.run(runId)).toMatchObject(expected);
    expect(unmetOf(box, runId!)).toEqual(['load']);
    expect(box.node.store.windows.find((window) => window.runId === runId)?.skipped).toBe(skipped);
    box.killOwner().advance('6s');
    expect(box.changes('RequirementsChecked')).toHaveLength(1);
  });

  test('run: it begins, and knows', () => {
    const box = minute(pair({ unmet: 'run' }));
    expect(work(box)).toEqual(['load', 'report']);
    expect(unmetOf(box, runsOf(box, 'report')[0]!)).toEqual(['load']);
  });
});

describe('the time that it waits is a span, whatever the clock is set to (I53)', () => {
  test.each(['-2h', '2h'] as const)('set by %s while its owner lives', (leap) => {
    const box = minute(pair({ unmet: 'fail', waitMs: 20_000 }));
    const [runId] = runsOf(box, 'report');
    box.leap(leap).advance('15s', [box.worker()]);
    expect(box.run(runId).phase).toBe('open');
    box.advance('6s', [box.worker()]);
    expect(box.run(runId)).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a new owner whose clock is behind gives it no more than the whole of it', () => {
    const box = minute(pair({ unmet: 'fail', waitMs: 20_000 }));
    const [runId] = runsOf(box, 'report');
    box.advance('15s', [box.worker()]);
    box.leap('-2h').killOwner().advance('21s', [box.worker()]);
    expect(box.run(runId)).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});

test('within a time: success of before the window counts for so long', () => {
  const box = pair({ requires: [{ dag: 'load', withinMs: 90_000 }] });
  minute(box);
  work(box);
  box.retire(dagOf(box, 'load'));
  minute(box);
  expect(work(box)).toEqual(['report']);
  minute(box);
  expect(work(box)).toEqual([]);
  expect(runsOf(box, 'report').map((runId) => unmetOf(box, runId))).toEqual([['load'], undefined, ['load']]);
});

test('a dag that does not exist has not succeeded', () => {
  const box = minute(pair({ requires: [{ dag: 'nobody', window: 'same' }], unmet: 'fail' }));
  expect(box.run(runsOf(box, 'report')[0])).toMatchObject({ outcome: 'failed' });
});

test('a run that waits can be cancelled', () => {
  const box = minute(pair({ waitMs: 600_000 }));
  expect(box.cancel(runsOf(box, 'report')[0])).toMatchObject({ ok: true });
  expect(box.state.requires.isUsed).toBe(false);
  box.killOwner().advance('6s');
  expect(box.changes('RequirementsChecked')).toEqual([]);
});

test('a run on demand does not wait', () => {
  const box = minute(pair({ waitMs: 600_000 }));
  work(box);
  box.advance('6s');
  work(box);
  box.feed(box.submission({ dagId: dagOf(box, 'report') }));
  expect(work(box)).toEqual(['report']);
});

test('retry looks again at its own pace, and then the policy applies', () => {
  const box = minute(pair({ waitMs: 180_000, lookMs: 60_000, unmet: 'fail' }));
  const [first] = runsOf(box, 'report');
  expect(work(box)).toEqual(['load']);
  box.advance('30s', [box.worker()]);
  expect(work(box)).toEqual([]);
  box.killOwner('1s').advance('40s', [box.worker()]);
  expect(box.run(first)).toMatchObject({ admitted: true });
});

describe('a run that waits counts for ifRunning (I7)', () => {
  /** `load` never succeeds, and two windows of `report` come. */
  function twoWindows(ifRunning: NonNullable<ScheduleSpec['ifRunning']>): Scenario {
    const box = minute(pair({ waitMs: 600_000, ifRunning }));
    work(box, 'permanent');
    minute(box.killOwner());
    return box;
  }

  test.each(['skip', 'queue_one'] as const)('%s: the next window is skipped', (ifRunning) => {
    const box = twoWindows(ifRunning);
    const [first, ...others] = runsOf(box, 'report');
    expect(others).toEqual([]);
    expect(box.run(first)).toMatchObject({ phase: 'open', admitted: false });
    const dagId = dagOf(box, 'report');
    const skipped = box.changes('WindowDecided').filter((change) => change.dagId === dagId && change.runId === null);
    expect(skipped).toMatchObject([{ skipped: 'overlap' }]);
  });

  test('cancel_running: it is cancelled, and the new one waits', () => {
    const box = twoWindows('cancel_running');
    const [first, second, ...others] = runsOf(box, 'report');
    expect(others).toEqual([]);
    expect(box.run(first)).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
    expect(box.run(second)).toMatchObject({ phase: 'open', admitted: false });
  });

  test.each(['allow', 'queue_all'] as const)('%s: both wait', (ifRunning) => {
    const box = twoWindows(ifRunning);
    expect(runsOf(box, 'report').map((run) => box.run(run).phase)).toEqual(['open', 'open']);
  });

  test('one that is cancelled while it waits is in nobody’s way', () => {
    const box = minute(pair({ waitMs: 600_000, ifRunning: 'skip' }));
    box.cancel(runsOf(box, 'report')[0]);
    minute(box);
    expect(runsOf(box, 'report')).toHaveLength(2);
  });
});

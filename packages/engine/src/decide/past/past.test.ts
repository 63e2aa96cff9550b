import { describe, expect, test } from 'vitest';
import type { DagSpec } from '../../model/dag/spec.ts';
import type { RunId } from '../../model/ids.ts';
import { type Attempt, type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, dag, every, task } from '../../testing/specs.ts';
import { takeOver } from '../../testing/take-over.ts';

const PAST = { past: 'task' } as const;
const MINUTELY = every('* * * * *', { missed: 'all' });

/** `load` waits for the past, `check` after it does not. */
function minutely(options: Partial<DagSpec> = {}, how: 'task' | 'downstream' = 'task'): DagSpec {
  return dag([task('load', [], { past: how }), task('check', [0])], { schedule: MINUTELY, ...options });
}

function runOf(box: Scenario, no: number): RunId {
  const runId = box.runIds[no];
  if (runId === undefined) throw new Error(`there is no run ${no}`);
  return runId;
}

/** Claims whatever can be claimed, and answers with `task@run`. */
function claimAll(box: Scenario): { readonly names: string[]; readonly attempts: Attempt[] } {
  const attempts: Attempt[] = [];
  for (let one = box.tryClaim(); one !== null; one = box.tryClaim()) attempts.push(one);
  const names = attempts.map(({ task: name, claim }) => `${name}@${box.runIds.indexOf(claim.runId)}`);
  return { names: names.sort(), attempts };
}

function finish(box: Scenario, outcome: 'succeeded' | 'permanent' = 'succeeded'): void {
  for (const attempt of claimAll(box).attempts) box.report(attempt, outcome);
}

/** What a run waits for is looked up once the run is stored. */
const wait = (box: Scenario) => box.advance('10ms');
const minutes = (box: Scenario, count: number) => wait(box.advance(`${count}m`, [box.worker()]));

test('a task waits for the same task of the window before, the first window excepted', () => {
  const box = scenario({ dag: minutely() });
  minutes(box, 3);
  expect(box.runIds).toHaveLength(3);
  const { names, attempts } = claimAll(box);
  expect(names).toEqual(['load@0']);
  box.report(attempts[0]!, 'succeeded');
  expect(claimAll(box).names).toEqual(['check@0', 'load@1']);
});

test('it goes on after a handover as before, at any point', () => {
  const box = scenario({ dag: minutely() });
  minutes(box, 2).killOwner();
  wait(box);
  const [first] = claimAll(box).attempts;
  box.killOwner();
  box.report(first!, 'succeeded');
  box.killOwner();
  expect(claimAll(box).names).toEqual(['check@0', 'load@1']);
});

test('with downstream it also waits for the tasks directly downstream', () => {
  const box = scenario({ dag: minutely({}, 'downstream') });
  minutes(box, 2);
  box.report(box.claim('load'), 'succeeded');
  const { names, attempts } = claimAll(box);
  expect(names).toEqual(['check@0']);
  box.report(attempts[0]!, 'succeeded');
  expect(claimAll(box).names).toEqual(['load@1']);
});

describe('when the task of the window before failed', () => {
  function failed(options: Partial<DagSpec> = {}): Scenario {
    const box = scenario({ dag: minutely(options) });
    minutes(box, 1);
    box.report(box.claim('load'), 'permanent');
    expect(box.run(runOf(box, 0))).toMatchObject({ phase: 'ended', outcome: 'failed' });
    minutes(box, 1);
    expect(claimAll(box).names).toEqual([]);
    return box;
  }

  test('it waits until that is cleared and succeeds', () => {
    const box = failed();
    box.killOwner();
    box.clear(null, { runId: runOf(box, 0) });
    wait(box);
    finish(box);
    expect(claimAll(box).names).toEqual(['check@0', 'load@1']);
  });

  test.each(['succeeded', 'skipped'] as const)('or marked as %s', (as) => {
    const box = failed();
    box.mark('load', as, { runId: runOf(box, 0) });
    expect(claimAll(box).names).toContain('load@1');
  });

  test('a mark as failed changes nothing', () => {
    const box = failed();
    box.mark('load', 'failed', { runId: runOf(box, 0) });
    expect(claimAll(box).names).toEqual([]);
  });

  test('another run of that window makes it good', () => {
    const box = failed();
    const { shard, dagId, actor } = box;
    const { firesAt } = box.changes('RunCreated')[0]!;
    box.feed({
      kind: 'StartBackfill',
      ...{ shard, dagId, actor, tenantId: 1 as never, uid: '018f0000-0000-7000-8000-000000000001' as never },
      windowCount: 1,
      spec: {
        ...{ scheduleNo: 1 as never, scheduleName: 'default', schedule: MINUTELY, which: 'failed', order: 'forward' },
        ...{ fromAt: firesAt!, toAt: firesAt!, maxActive: 1, share: 0.5 },
      },
    });
    wait(box);
    finish(box);
    expect(claimAll(box).names).toContain('load@1');
  });

  test('it goes on when that run is no longer stored', () => {
    const box = failed();
    box.node.store.drop(runOf(box, 0));
    // A load in between asks for nothing that is gone.
    box.killOwner();
    expect(claimAll(box).names).toEqual([]);
    box.advance('10m', [box.worker()]);
    expect(claimAll(box).names).toContain('load@1');
  });

  const limits = [
    ['of one run', { maxActiveRuns: 1 }],
    ['of one run with its key', { concurrency: { text: '', key: ['all'], limit: 1, onFull: 'queue' } }],
  ] as const;

  test.each(limits)('under a limit %s it gives its place to the one that is cleared (I7)', (_, limit) => {
    const box = failed(limit);
    expect(box.run(runOf(box, 1)).admitted).toBe(true);
    box.clear(null, { runId: runOf(box, 0) });
    expect([0, 1].map((no) => box.run(runOf(box, no)).admitted)).toEqual([true, false]);
    box.killOwner();
    wait(box);
    finish(box);
    finish(box);
    expect(box.run(runOf(box, 0)).phase).toBe('ended');
    expect(box.run(runOf(box, 1)).admitted).toBe(true);
    expect(claimAll(box).names).toEqual(['load@1']);
  });

  test('under a limit that was lowered as many give up their places as are too many (I7)', () => {
    const box = failed();
    minutes(box, 2);
    const active = () => box.runIds.filter((runId) => box.run(runId).admitted && box.run(runId).phase !== 'ended');
    expect(active()).toHaveLength(3);
    box.deploy(minutely({ maxActiveRuns: 2 }));
    box.clear(null, { runId: runOf(box, 0) });
    expect(active()).toHaveLength(2);
    expect(active()).toContain(runOf(box, 0));
    for (let i = 0; i < 8; i++) finish(wait(box));
    expect(box.runIds.map((runId) => box.run(runId).outcome)).toEqual(Array(4).fill('succeeded'));
  });

  test('also where runs of the schedule wait until the dag has no active one (I7, I29)', () => {
    const box = failed({ schedule: every('* * * * *', { missed: 'all', ifRunning: 'queue_all' }) });
    minutes(box, 1);
    const admitted = () => box.runIds.map((runId) => box.run(runId).admitted);
    expect(admitted()).toEqual([true, true, false]);
    box.clear(null, { runId: runOf(box, 0) });
    expect(admitted()).toEqual([true, false, false]);
    for (let i = 0; i < 6; i++) finish(wait(box));
    expect(box.runIds.map((runId) => box.run(runId).outcome)).toEqual(Array(3).fill('succeeded'));
  });

  test('and those that need not wait for others go on beside it (I29)', () => {
    const queueing = { schedule: every('* * * * *', { missed: 'all', ifRunning: 'queue_all' }) };
    const box = failed(queueing);
    box.deploy(minutely());
    minutes(box, 1);
    box.deploy(minutely(queueing));
    minutes(box, 1);
    const admitted = () => box.runIds.map((runId) => box.run(runId).admitted);
    expect(admitted()).toEqual([true, true, true, false]);
    box.clear(null, { runId: runOf(box, 0) });
    expect(admitted()).toEqual([true, false, true, false]);
  });

  test.each(limits)('and, under a limit %s, keeps it while it has something else to do (I72)', (_, limit) => {
    const spec = dag([task('load', [], PAST), task('other')], { schedule: MINUTELY, ...limit });
    const box = scenario({ dag: spec });
    minutes(box, 1);
    for (const one of claimAll(box).attempts) box.report(one, one.task === 'load' ? 'permanent' : 'succeeded');
    minutes(box, 1);
    const [other] = claimAll(box).attempts;
    expect(other?.task).toBe('other');
    box.clear(['load'], { runId: runOf(box, 0) });
    expect(box.run(runOf(box, 0)).admitted).toBe(false);
    box.report(other!, 'succeeded');
    expect(box.run(runOf(box, 0)).admitted).toBe(true);
  });
});

test('a window that was skipped is passed over: the one before it counts', () => {
  const box = scenario({ dag: minutely({ schedule: every('* * * * *', { missed: 'skip' }) }) });
  minutes(minutes(box, 1).killOwner('3m'), 1);
  expect(box.runIds).toHaveLength(2);
  expect(claimAll(box).names).toEqual(['load@0']);
});

test('a run on demand does not wait', () => {
  const box = scenario({ dag: minutely() });
  minutes(box, 1);
  box.submit();
  expect(claimAll(box).names).toEqual(['load@0', 'load@1']);
});

test('a task that the earlier version did not have is not waited for', () => {
  const box = scenario({ dag: minutely() });
  minutes(box, 1);
  box.deploy({ ...minutely(), tasks: [task('load', [], PAST), task('added', [], PAST)] });
  minutes(box, 1);
  expect(claimAll(box).names).toEqual(['added@1', 'load@0']);
});

test('a mapped task waits for all instances of the one before', () => {
  const box = scenario({
    dag: dag([task('item', [], { ...PAST, group: 0 })], {
      schedule: MINUTELY,
      groups: [{ name: 'item', parent: null, map: { over: [{ from: 'list', length: 2 }], mode: 'product' } }],
    }),
  });
  minutes(box, 2);
  const { attempts } = claimAll(box);
  expect(attempts.map(({ claim }) => box.runIds.indexOf(claim.runId))).toEqual([0, 0]);
  box.report(attempts[0]!, 'succeeded');
  expect(claimAll(box).names).toEqual([]);
  box.killOwner();
  box.report(attempts[1]!, 'succeeded');
  expect(claimAll(box).attempts).toHaveLength(2);
});

test('a task that could not run is not waited for as if it had: it was no success', () => {
  const box = scenario({ dag: dag([task('a'), task('b', [0], PAST)], { schedule: MINUTELY }) });
  minutes(box, 1);
  box.report(box.claim('a'), 'permanent');
  minutes(box, 1);
  box.report(box.claim('a'), 'succeeded');
  expect(claimAll(box).names).toEqual([]);
  // Nor does it wait itself where it can't run.
  minutes(box, 1);
  box.report(box.claim('a'), 'permanent');
  expect(box.run(runOf(box, 2))).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

test('a run that is cancelled waits for nothing, and one that is cleared looks again', () => {
  const box = scenario({ dag: dag([task('a'), task('b', [0], PAST)], { schedule: MINUTELY }) });
  minutes(box, 1);
  box.report(box.claim('a'), 'permanent');
  minutes(box, 1);
  box.report(box.claim('a'), 'permanent');
  box.mark('b', 'succeeded', { runId: runOf(box, 0) });
  box.clear(null, { runId: runOf(box, 1) });
  wait(box);
  box.report(box.claim('a'), 'succeeded');
  expect(claimAll(box).names).toEqual(['b@1']);
  minutes(box, 1);
  box.cancel(runOf(box, 2));
  expect(box.state.past.isUsed).toBe(false);
});

test('what is in flight counts: windows of one step wait for each other', () => {
  const box = scenario({ dag: minutely() });
  box.hold();
  box.advance('2m');
  expect(claimAll(box).names).toEqual([]);
  box.settle();
  wait(box);
  expect(claimAll(box).names).toEqual(['load@0']);
});

test('a queue timeout begins when the past lets the task go', () => {
  const spec = dag([task('load', [], { ...PAST, queueTimeoutMs: 20_000 })], { schedule: MINUTELY });
  const box = scenario({ dag: spec });
  minutes(box, 1);
  const first = box.claim('load');
  minutes(box, 2);
  expect(box.task('load', runOf(box, 1)).state).toBe('ready');
  box.report(first, 'succeeded');
  box.advance('21s');
  expect(box.run(runOf(box, 1))).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

test('it begins anew when the run is opened again and the task waits for the past once more, also after a load (I19, I41)', () => {
  const waits = task('waits', [], { ...PAST, queue: 'gpu', queueTimeoutMs: 60_000 });
  const box = scenario({ dag: dag([waits, task('fails')], { schedule: MINUTELY, onFailure: 'fail_fast' }) });
  minutes(box, 1);
  expect(box.changes('TaskQueued')).toHaveLength(1);
  box.report(box.claim('fails'), 'permanent');
  expect(box.run(runOf(box, 0))).toMatchObject({ phase: 'ended', outcome: 'failed' });
  box.advance('50s').hold();
  box.retry('fails', runOf(box, 0));
  box.settle().killOwner();
  wait(box);
  expect(box.changes('TaskQueued')).toHaveLength(2);
});

describe('contradictions are refused', () => {
  const cancelling = every('* * * * *', { ifRunning: 'cancel_running' });

  test('a backfill that goes backwards', () => {
    const box = scenario({ dag: minutely() });
    const { shard, dagId, actor } = box;
    const order = { which: 'missing', order: 'backward', fromAt: 0 as never, toAt: 1 as never } as const;
    const answer = box.feed({
      kind: 'StartBackfill',
      ...{ shard, dagId, actor, tenantId: 1 as never, uid: '018f0000-0000-7000-8000-000000000001' as never },
      windowCount: 1,
      spec: { ...order, scheduleNo: 1 as never, scheduleName: 'default', schedule: MINUTELY, maxActive: 1, share: 0.5 },
    });
    expect(answer).toMatchObject({ code: 'BACKFILL_INVALID', detail: expect.stringContaining('task load') });
  });

  test('a schedule that cancels what tasks wait for, whichever of the two comes first', () => {
    const box = scenario({ dag: minutely() });
    expect(box.createSchedules({ extra: cancelling })).toMatchObject({ code: 'SCHEDULE_INVALID' });
    expect(box.createSchedules({ extra: MINUTELY })).toMatchObject({ ok: true });
    expect(box.editSchedule('extra', cancelling)).toMatchObject({ code: 'SCHEDULE_INVALID' });
    const other = scenario({ dag: chain('load') });
    expect(other.createSchedules({ extra: cancelling })).toMatchObject({ ok: true });
    expect(other.tryDeploy(minutely())).toMatchObject({
      code: 'SCHEDULE_INVALID',
      detail: expect.stringContaining('extra'),
    });
  });
});

test('a dag without it costs nothing', () => {
  const box = scenario({ dag: { ...chain('a', 'b'), schedule: MINUTELY } });
  minutes(box, 2);
  expect(box.state.past.isUsed).toBe(false);
  expect(box.changes('PastChecked')).toEqual([]);
});

test('what ends while a takeover is still loading lets those go on that are loaded later (I29)', () => {
  for (const as of [[0], [0, 1]] as const) {
    const box = scenario({ dag: minutely(), audit: false });
    minutes(box, 2);
    const first = runOf(box, 0);
    const loadRest = takeOver(box, ({ runId }) => runId === first);
    for (const no of as) box.mark(no === 0 ? 'load' : 'check', 'skipped', { runId: first });
    loadRest();
    wait(box);
    expect(claimAll(box).names).toContain('load@1');
  }
});

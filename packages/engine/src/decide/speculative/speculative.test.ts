import { describe, expect, test } from 'vitest';
import type { DagSpec, SpeculateSpec } from '../../model/dag/spec.ts';
import { homeOf, isPool, type LimitName, poolLimit, tenantLimit } from '../../model/limit.ts';
import type { ReportedOutcome } from '../../model/task/outcome.ts';
import { type Attempt, accepted, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { SlotLines } from '../../testing/slot-lines.ts';
import { dag, type TaskOptions, task } from '../../testing/specs.ts';
import { demandOf } from '../match/demand.ts';

const SPECULATE: SpeculateSpec = { factor: 3, minMs: 10_000 };
const stale = { ok: false, code: 'STALE_TOKEN' } as const;

const mapped = (items: number, options: TaskOptions = {}, more: Partial<DagSpec> = {}) =>
  dag([task('work', [], { group: 0, speculate: SPECULATE, ...options }), task('sum', [0])], {
    groups: [{ name: 'work', parent: null, map: { over: [{ from: 'list', length: items }], mode: 'product' } }],
    ...more,
  });

/** All items but the last have taken two seconds each; the last runs at `w1`, and goes on. */
function withSlowItem(options: TaskOptions = {}, more: Partial<DagSpec> = {}, workers = ['w1', 'w2', 'w3']) {
  const box = scenario({ dag: mapped(4, options, more), workers });
  const quick = [0, 1, 2].map((i) => box.claim(`work[${i}]`));
  const slow = box.claim('work[3]');
  box.heartbeat(slow.worker).advance('2s', [slow.worker]);
  for (const attempt of quick) expect(box.report(attempt, 'succeeded')).toEqual(accepted);
  return { box, slow };
}

/** The same, with a speculative attempt at `w2`. */
function speculated(options: TaskOptions = {}, more: Partial<DagSpec> = {}) {
  const { box, slow } = withSlowItem(options, more);
  box.advance('9s', [slow.worker]);
  const second = box.claim('work[3]', box.worker('w2'));
  box.heartbeat(second.worker);
  return { box, slow, second };
}

const runningOf = (box: Scenario) => box.state.dags.get(box.dagId)!.runningTasks;
const killsOf = ({ worker, claim }: Attempt) =>
  worker.killed.filter((kill) => kill.claim.fence === claim.fence).map(({ reason }) => reason);
const finish = (box: Scenario) => {
  expect(box.report(box.claim('sum', box.worker('w3')), 'succeeded')).toEqual(accepted);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
};

describe('a speculative attempt', () => {
  test('begins once an item has run for the factor of the median, and not less than the least time (I23)', () => {
    const { box, slow } = withSlowItem();
    box.advance('7.5s', [slow.worker]);
    expect(box.tryClaim(box.worker('w2'))).toBeNull();
    box.advance('0.6s', [slow.worker]);
    const second = box.claim('work[3]', box.worker('w2'));
    expect(second.claim).toEqual({ ...slow.claim, attemptNo: 2, fence: 2 });
    expect(box.changes('SpeculativeClaimed')).toMatchObject([{ attemptNo: 2, fence: 2 }]);
    expect(runningOf(box)).toBe(2);
    // Once.
    box.advance('60s', [slow.worker, second.worker]);
    expect(box.tryClaim(box.worker('w3'))).toBeNull();
  });

  test('goes by the median: siblings that take long themselves call nobody slow', () => {
    const box = scenario({ dag: mapped(3), workers: ['w1', 'w2'] });
    const all = [0, 1, 2].map((i) => box.claim(`work[${i}]`));
    box.heartbeat().advance('20s', [box.worker()]);
    for (const attempt of all.slice(0, 2)) box.report(attempt, 'succeeded');
    box.advance('36s', [box.worker()]);
    expect(box.tryClaim(box.worker('w2'))).toBeNull();
    box.advance('15s', [box.worker()]);
    expect(box.claim('work[2]', box.worker('w2')).claim.attemptNo).toBe(2);
  });

  test('waits until half of the siblings have succeeded, or as many as the task says', () => {
    for (const [minimum, isEnough] of [
      [undefined, true],
      [3, false],
      [1, true],
    ] as const) {
      const speculate = minimum === undefined ? SPECULATE : { ...SPECULATE, minimum };
      const box = scenario({ dag: mapped(4, { speculate }), workers: ['w1', 'w2'] });
      const all = [0, 1, 2, 3].map((i) => box.claim(`work[${i}]`));
      box.heartbeat().advance('1s');
      for (const attempt of all.slice(0, 2)) box.report(attempt, 'succeeded');
      box.advance('15s', [box.worker()]);
      expect(box.tryClaim(box.worker('w2')) !== null).toBe(isEnough);
    }
  });

  test('is not for tasks that did not ask for it, nor for such as are in no map', () => {
    const box = scenario({ dag: mapped(2, { speculate: undefined as never }), workers: ['w1', 'w2'] });
    const [quick, slow] = [box.claim('work[0]'), box.claim('work[1]')];
    box.report(quick, 'succeeded');
    box.advance('10m', [slow.worker]);
    expect(box.tryClaim(box.worker('w2'))).toBeNull();
  });

  test('goes to the worker that has the first only where no other came for a while', () => {
    const { box, slow } = withSlowItem();
    box.advance('9s', [slow.worker]);
    expect(box.tryClaim(slow.worker)).toBeNull();
    box.advance('5s', [slow.worker]);
    expect(box.claim('work[3]', slow.worker).claim.fence).toBe(2);
  });

  test('is asked for as ready tasks are, and counts against the limit of its dag (I44, I45)', () => {
    const { box, slow } = withSlowItem({}, { maxActiveTasks: 4 });
    box.deploy(mapped(4, {}, { maxActiveTasks: 1 }));
    box.advance('9s', [slow.worker]);
    expect(box.tryClaim(box.worker('w2'))).toBeNull();
    box.deploy(mapped(4, {}, { maxActiveTasks: 2 }));
    expect(box.claim('work[3]', box.worker('w2')).claim.fence).toBe(2);
    expect(runningOf(box)).toBe(2);
  });

  test('does not begin while its run or its task is paused (I47)', () => {
    const { box, slow } = withSlowItem();
    box.setPaused('work[3]');
    box.advance('20s', [slow.worker]);
    expect(box.tryClaim(box.worker('w2'))).toBeNull();
    box.setPaused('work[3]', false);
    expect(box.tryClaim(box.worker('w2'))).not.toBeNull();
  });
});

test('while its queue is frozen no slots are asked for: they would come and go for nothing', () => {
  const { box, slow } = withSlowItem();
  box.advance('9s', [slow.worker]);
  expect(demandOf(box.state)).toMatchObject([{ apart: [{ from: slow.worker.id }] }]);
  const frozen = { tenantId: TENANT, kind: 'queue', name: 'default' } as const;
  box.feed({ kind: 'SetFrozen', frozen: [frozen] });
  expect(demandOf(box.state)).toEqual([]);
  expect(box.tryClaim(box.worker('w2'))).toBeNull();
  box.feed({ kind: 'SetFrozen', frozen: [] });
  expect(box.claim('work[3]', box.worker('w2')).claim.fence).toBe(2);
});

describe('the first of the two to succeed counts', () => {
  test('the second: the first is fenced in the same commit, and killed as superseded (I21, I23)', () => {
    const { box, slow, second } = speculated();
    expect(box.report(second, 'succeeded', { output: '"second"' })).toEqual(accepted);
    expect(box.task('work[3]')).toMatchObject({ state: 'succeeded', attemptCount: 2, fence: 2 });
    expect(killsOf(slow)).toEqual(['superseded']);
    expect(box.report(slow, 'succeeded', { output: '"first"' })).toMatchObject(stale);
    expect(box.report(second, 'succeeded', { output: '"second"' })).toEqual(accepted); // a repeat (I22)
    expect(box.changes('SpeculativeTookOver')).toMatchObject([
      { attemptNo: 1, outcome: 'cancelled', code: 'superseded' },
    ]);
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({ attemptNo: 2, output: '"second"', speculative: true });
    expect(runningOf(box)).toBe(0);
    finish(box);
  });

  test('the first: the same of the second', () => {
    const { box, slow, second } = speculated();
    expect(box.report(slow, 'succeeded', { output: '"first"' })).toEqual(accepted);
    expect(box.task('work[3]')).toMatchObject({ state: 'succeeded', attemptCount: 1, fence: 1 });
    expect(killsOf(second)).toEqual(['superseded']);
    expect(box.report(second, 'succeeded')).toMatchObject(stale);
    expect(box.report(slow, 'succeeded', { output: '"first"' })).toEqual(accepted);
    expect(box.changes('SpeculativeEnded')).toMatchObject([{ attemptNo: 2, outcome: 'cancelled', code: 'superseded' }]);
    expect(runningOf(box)).toBe(0);
    finish(box);
  });

  test.each([['first'], ['second']])('also across handovers: the %s (I17)', (winner) => {
    const { box, slow, second } = speculated();
    box.killOwner();
    for (const { worker } of [slow, second]) box.heartbeat(worker);
    expect(runningOf(box)).toBe(2);
    const [won, lost] = winner === 'first' ? [slow, second] : [second, slow];
    expect(box.report(won, 'succeeded')).toEqual(accepted);
    box.killOwner();
    expect(box.report(lost, 'succeeded')).toMatchObject(stale);
    finish(box);
  });
});

describe('one of two that fails', () => {
  const failures = ['transient', 'permanent'] as const satisfies readonly ReportedOutcome[];

  test.each(failures)(
    'leaves the other: the second, %s; it costs nothing, and is told the same again (I22, I39)',
    (how) => {
      const { box, slow, second } = speculated({ retry: { maxAttempts: 2, baseMs: 0 } });
      expect(box.report(second, how)).toEqual(accepted);
      expect(box.report(second, how)).toEqual(accepted);
      expect(box.report(second, 'succeeded')).toMatchObject(stale);
      expect(box.task('work[3]').state).toBe('running');
      // No other is tried beside this one.
      box.advance('60s', [slow.worker]);
      expect(box.tryClaim(box.worker('w3'))).toBeNull();
      box.report(slow, 'transient');
      const third = box.claim('work[3]', box.worker('w3'));
      expect(third.claim).toMatchObject({ attemptNo: 3, fence: 3 });
      box.killOwner().heartbeat(third.worker);
      box.report(third, 'transient');
      expect(box.task('work[3]').state).toBe('failed');
      expect(box.changes('DeadLetterWritten')).toMatchObject([{ attemptNo: 3 }]);
    },
  );

  test.each(failures)('leaves the other: the first, %s; what runs on is the task’s attempt (I39)', (how) => {
    const { box, slow, second } = speculated({ retry: { maxAttempts: 2, baseMs: 0 } });
    expect(box.report(slow, how)).toEqual(accepted);
    expect(box.report(slow, how)).toEqual(accepted);
    expect(box.task('work[3]')).toMatchObject({ state: 'running', attemptCount: 2, fence: 2 });
    expect(box.changes('DeadLetterWritten')).toEqual([]);
    box.killOwner().heartbeat(second.worker);
    expect(box.report(second, 'transient')).toEqual(accepted);
    const third = box.claim('work[3]', box.worker('w3'));
    expect(third.claim).toMatchObject({ attemptNo: 3, fence: 3 });
    box.report(third, 'transient');
    expect(box.task('work[3]').state).toBe('failed');
  });

  test('with its worker: a lost one leaves the other (I25)', () => {
    for (const isFirst of [true, false]) {
      const { box, slow, second } = speculated();
      const [kept, lost] = isFirst ? [second, slow] : [slow, second];
      box.advance('16s', [kept.worker]);
      expect(killsOf(lost)).toEqual(['lost']);
      expect(box.task('work[3]')).toMatchObject({ state: 'running', lostCount: 0 });
      expect(runningOf(box)).toBe(1);
      expect(box.report(kept, 'succeeded')).toEqual(accepted);
      finish(box);
    }
  });

  test('both with one worker: each is given up', () => {
    const { box, slow } = withSlowItem();
    box.advance('15s', [slow.worker]);
    const second = box.claim('work[3]', slow.worker);
    expect(second.claim.fence).toBe(2);
    box.heartbeat(slow.worker).advance('16s');
    expect(runningOf(box)).toBe(0);
    expect(box.task('work[3]')).toMatchObject({ state: 'ready', lostCount: 1 });
    expect(box.claim('work[3]', box.worker('w2')).claim).toMatchObject({ attemptNo: 3, fence: 3 });
  });

  test('that took over may be speculated upon in turn', () => {
    const { box, slow, second } = speculated();
    box.report(slow, 'transient');
    box.advance('12s', [second.worker]);
    expect(box.claim('work[3]', box.worker('w3')).claim).toMatchObject({ attemptNo: 3, fence: 3 });
  });
});

describe('a speculative attempt that never began', () => {
  test('goes back at no cost, and another follows under its number (I26)', () => {
    const { box, slow } = withSlowItem();
    box.advance('9s', [slow.worker]);
    const refused = box.claim('work[3]', box.worker('w2'));
    box.refuse(refused);
    expect(runningOf(box)).toBe(1);
    box.killOwner().heartbeat(slow.worker).advance('3s', [slow.worker]);
    expect(box.claim('work[3]', box.worker('w2')).claim).toMatchObject({ attemptNo: 2, fence: 3 });
  });

  test('and took over: the task is ready again', () => {
    const { box, slow } = withSlowItem({ retry: { maxAttempts: 3, baseMs: 0 } });
    box.advance('9s', [slow.worker]);
    const second = box.claim('work[3]', box.worker('w2'));
    box.report(slow, 'transient');
    box.refuse(second);
    expect(box.task('work[3]')).toMatchObject({ state: 'ready', attemptCount: 1 });
    expect(box.claim('work[3]', box.worker('w3')).claim).toMatchObject({ attemptNo: 2, fence: 3 });
  });

  test('a first one that its worker never shows to the next owner was lost, for it had begun (I17, I23)', () => {
    const { box, slow, second } = speculated();
    slow.worker.drop(slow.claim);
    box.killOwner().heartbeat(second.worker).heartbeat(slow.worker);
    expect(box.changes('SpeculativeTookOver')).toMatchObject([{ attemptNo: 1, outcome: 'lost' }]);
    expect(box.report(second, 'succeeded')).toEqual(accepted);
  });
});

describe('under a limit that spans shards', () => {
  /** As `withSlowItem`, with a worker that has slots for all. */
  function limited(limit: LimitName, slots: number, options: TaskOptions) {
    const box = scenario({ dag: mapped(4, options), workers: ['w1', 'w2'], shards: [3, homeOf(limit)] });
    const lines = new SlotLines(box);
    const set = { shard: homeOf(limit), tenantId: TENANT, limit, slots, actor: box.actor };
    box.feed({ kind: 'SetLimit', ...set });
    if (!isPool(limit)) box.feed({ kind: 'SetLimits', limits: [{ limit, no: 1, isLimited: true }] });
    const worker = box.worker();
    box.lend(worker, 4, true);
    lines.deliver();
    const all = box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [box.attemptOf(effect)] : []));
    expect(all).toHaveLength(4);
    box.heartbeat(worker).advance('2s', [worker]);
    for (const attempt of all.slice(0, 3)) expect(box.report(attempt, 'succeeded')).toEqual(accepted);
    lines.deliver();
    expect(box.state.limits.homes.get(limit)?.out()).toBe(options.pool?.slots ?? 1);
    box.lend(box.worker('w2'), 4, true);
    const pass = (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        box.advance('1s', [worker, box.worker('w2')]);
        lines.deliver();
      }
    };
    return { box, slow: all[3]!, pass };
  }

  const POOL = poolLimit(TENANT, 'database');

  test.each([
    ['a pool', POOL, { pool: { name: 'database', slots: 2 } }, 8],
    ['a cap', tenantLimit(TENANT), {}, 4],
  ] as const)('of %s, slots are asked for, and go back (I29, I45)', (_, limit, options, slots) => {
    const { box, slow, pass } = limited(limit, slots, options);
    pass(10);
    expect(box.changes('SpeculativeClaimed')).toHaveLength(1);
    expect(box.report(slow, 'succeeded')).toEqual(accepted);
    pass(3);
    // The sum of all items runs under the cap, too.
    expect(box.state.limits.homes.get(limit)?.out()).toBe(isPool(limit) ? 0 : 1);
  });
});

describe('what ends a task ends both', () => {
  test('a cancel: both are told, and the run ends when both have (I42)', () => {
    const { box, slow, second } = speculated();
    box.cancel();
    for (const attempt of [slow, second]) expect(killsOf(attempt)).toEqual(['cancelled']);
    expect(box.report(slow, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
    expect(box.run().phase).toBe('closing');
    expect(box.report(second, 'cancelled')).toEqual(accepted);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('a cancel whose workers do not answer', () => {
    const { box, slow, second } = speculated();
    box.cancel();
    box.killOwner().advance('26s', [slow.worker, second.worker]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('a clear by force, and a mark (I32)', () => {
    for (const action of ['clear', 'mark', 'force'] as const) {
      const { box, slow, second } = speculated();
      if (action === 'clear') box.clear(['work[3]'], { force: true });
      else if (action === 'mark') box.mark('work[3]', 'succeeded', { force: true });
      else box.force();
      for (const attempt of [slow, second]) {
        expect(killsOf(attempt)).toEqual(['cancelled']);
        if (action !== 'force') expect(box.report(attempt, 'succeeded')).toMatchObject(stale);
      }
      if (action === 'mark') finish(box);
      if (action === 'clear') {
        expect(box.claim('work[3]', box.worker('w3')).claim).toMatchObject({ attemptNo: 3, fence: 3 });
      }
      if (action === 'force') expect(box.run().phase).toBe('ended');
    }
  });

  test('the time of the whole task', () => {
    const { box, slow, second } = speculated({ totalTimeoutMs: 30_000, retry: { maxAttempts: 5 } });
    box.advance('20s', [slow.worker, second.worker]);
    for (const attempt of [slow, second]) expect(killsOf(attempt)[0]).toBe('timeout');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(runningOf(box)).toBe(0);
  });

  test('each has a timeout of its own, which handovers do not start over (I41)', () => {
    const { box, slow, second } = speculated({ timeoutMs: 20_000 });
    box.killOwner();
    for (const { worker } of [slow, second]) box.heartbeat(worker);
    box.advance('10s', [slow.worker, second.worker]);
    expect(box.changes('SpeculativeTookOver')).toMatchObject([{ outcome: 'timeout', code: 'timeout:attempt' }]);
    expect(box.task('work[3]').state).toBe('running');
    box.advance('10s', [second.worker]);
    expect(box.changes('AttemptEnded').at(-1)).toMatchObject({ attemptNo: 2, outcome: 'timeout', taskState: 'failed' });
  });

  test('each is told of as slow, and may have more time', () => {
    const { box, slow, second } = speculated({ timeoutMs: 20_000, softTimeoutMs: 15_000 });
    expect(box.extend(second, 60_000)).toMatchObject({ ok: true, leftMs: 60_000 });
    box.advance('4s', [slow.worker, second.worker]);
    expect(box.changes('TaskSlow')).toMatchObject([{ attemptNo: 1 }]);
    box.killOwner();
    for (const { worker } of [slow, second]) box.heartbeat(worker);
    box.advance('30s', [slow.worker, second.worker]);
    expect(box.changes('TaskSlow').map(({ attemptNo }) => attemptNo)).toEqual([1, 2]);
    expect(box.task('work[3]')).toMatchObject({ state: 'running', attemptCount: 2 });
    expect(box.report(second, 'succeeded')).toEqual(accepted);
  });
});

test('checkpoints of both are kept, the last one saved by either', () => {
  const { box, slow, second } = speculated({ retry: { maxAttempts: 2, baseMs: 0 } });
  const save = ({ claim, worker }: Attempt, no: number, value: string) =>
    box.feed({ kind: 'SaveCheckpoint', claim, workerId: worker.id, no, value });
  expect(save(slow, 1, '1')).toEqual(accepted);
  expect(save(second, 1, '2')).toEqual(accepted);
  expect(box.feed({ kind: 'AssertOwned', claim: slow.claim, workerId: slow.worker.id })).toEqual(accepted);
  box.report(second, 'transient');
  expect(save(second, 2, '3')).toMatchObject(stale);
  box.report(slow, 'transient');
  const sent = box.effects.length;
  box.claim('work[3]', box.worker('w3'));
  expect(box.effects.slice(sent)).toMatchObject([{ kind: 'SendAssignment', checkpoint: { fence: 2, no: 1 } }]);
});

test('no more than a quarter of what a run has running are speculative attempts: when all are slow they help nobody', () => {
  const box = scenario({ dag: mapped(20), workers: ['w1', 'w2'] });
  const all = Array.from({ length: 20 }, (_, i) => box.claim(`work[${i}]`));
  box.heartbeat().advance('1s');
  for (const attempt of all.slice(0, 12)) box.report(attempt, 'succeeded');
  box.advance('15s', [box.worker()]);
  let seconds = 0;
  while (box.tryClaim(box.worker('w2')) !== null) seconds += 1;
  expect(seconds).toBe(2);
});

test('the preview of a cancel tells that a task with two attempts is stopped', () => {
  const { box } = speculated();
  const cancel = { kind: 'CancelRun', tenantId: TENANT, runId: box.lastRun(), actor: box.actor } as const;
  const preview = box.feed({ ...cancel, dryRun: true });
  const tasks = 'tasks' in preview ? preview.tasks : [];
  expect(tasks.filter(({ before }) => before === 'running')).toMatchObject([
    { name: 'work', after: 'cancelled', how: 'cancelled', stopped: 1 },
  ]);
});

test('a run that is set aside gives up both, and memory keeps nothing of it (I57, I73)', () => {
  const { box } = speculated();
  box.strike(undefined, true);
  expect(runningOf(box)).toBe(0);
  expect(box.state.attempts.count).toBe(0);
  box.submit();
  expect(box.state.speculation.size).toBe(0);
});

test('a hook for slow attempts hears of both, of the second as well', () => {
  const { tasks, ...rest } = mapped(4, { softTimeoutMs: 5_000 });
  const told = task('told', [], { group: 0, hook: { of: 0, on: 'slow' } });
  const box = scenario({ dag: { ...rest, tasks: [...tasks, told] }, workers: ['w1', 'w2', 'w3'] });
  const quick = [0, 1, 2].map((i) => box.claim(`work[${i}]`));
  const slow = box.claim('work[3]');
  box.heartbeat(slow.worker).advance('2s', [slow.worker]);
  for (const attempt of quick) box.report(attempt, 'succeeded');
  box.advance('4s', [slow.worker]);
  box.report(box.claim('told[3]', box.worker('w3')), 'succeeded');
  box.advance('5s', [slow.worker]);
  const second = box.claim('work[3]', box.worker('w2'));
  box.heartbeat(second.worker).advance('6s', [slow.worker, second.worker]);
  box.killOwner();
  box.report(box.claim('told[3]', box.worker('w3')), 'succeeded');
  expect(box.changes('TaskSlow').map(({ attemptNo }) => attemptNo)).toEqual([1, 2]);
});

test.each(['live', 'loaded'])(
  'the failure of one of two is followed by no retry: a hook for retries does not run, %s (I19)',
  (how) => {
    const map = { over: [{ from: 'list', length: 4 } as const], mode: 'product' as const };
    const retry = { maxAttempts: 3, minMs: 0, maxMs: 0 };
    const tasks = [
      task('work', [], { group: 0, speculate: SPECULATE, retry }),
      task('sum', [0]),
      task('again', [], { group: 0, hook: { of: 0, on: 'retry' } }),
    ];
    const { box, slow, second } = speculated({}, { tasks, groups: [{ name: 'work', parent: null, map }] });
    const hook = () => (how === 'loaded' ? box.killOwner() : box).task('again[3]').state;
    box.report(slow, 'transient');
    expect(hook()).toBe('blocked');
    box.report(second, 'transient');
    expect(hook()).toBe('ready');
  },
);

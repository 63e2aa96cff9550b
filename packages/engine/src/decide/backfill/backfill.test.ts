import { describe, expect, test } from 'vitest';
import type { Answer } from '../../model/answer.ts';
import type { BackfillSpec } from '../../model/backfill.ts';
import type { BackfillUid, Instant, RunId, ScheduleNo } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { chain, dag, every, job, task } from '../../testing/specs.ts';

const DAY = 86_400_000;
const DAILY = every('0 0 * * *');

/** The day so many days after the start. */
const day = (no: number): Instant => (START + no * DAY) as Instant;

let uids = 0;

function start(box: Scenario, more: Partial<BackfillSpec> = {}): { uid: BackfillUid; answer: Answer } {
  const { shard, dagId } = box;
  const schedule = box.state.schedules.named(dagId, 'default')?.spec ?? DAILY;
  const range = { fromAt: day(-10), toAt: day(-1), which: 'missing', order: 'forward' } as const;
  const spec: BackfillSpec = {
    scheduleNo: 1 as ScheduleNo,
    scheduleName: 'default',
    schedule,
    ...range,
    maxActive: 2,
    share: 0.05,
    ...more,
  };
  const uid = `00000000-0000-7000-8000-${(++uids).toString(16).padStart(10, '0')}07` as BackfillUid;
  const command = { kind: 'StartBackfill', shard, tenantId: TENANT, dagId, uid, spec, windowCount: 10 } as const;
  const answer = box.feed({ ...command, actor: box.actor });
  box.node.work();
  return { uid, answer };
}

function set(box: Scenario, uid: BackfillUid, to: 'paused' | 'running' | 'cancelled'): Answer {
  const answer = box.feed({ kind: 'SetBackfill', shard: box.shard, tenantId: TENANT, uid, to, actor: box.actor });
  box.node.work();
  return answer;
}

/** The days of runs, by cause, in the order of their creation. */
function created(box: Scenario, cause = 'backfill'): number[] {
  return box
    .changes('RunCreated')
    .filter((change) => change.cause === cause)
    .map(({ firesAt }) => ((firesAt ?? 0) - START) / DAY);
}

function live(box: Scenario): number {
  return box.runIds.filter((runId) => box.run(runId).phase !== 'ended').length;
}

/** Runs one task of the dag to its end. */
function runOne(box: Scenario, outcome: 'succeeded' | 'permanent' = 'succeeded'): boolean {
  const attempt = box.tryClaim();
  if (attempt === null) return false;
  box.report(attempt, outcome);
  box.node.work();
  return true;
}

function runAll(box: Scenario, outcome: 'succeeded' | 'permanent' = 'succeeded'): void {
  while (runOne(box, outcome));
}

function stateOf(box: Scenario, uid: BackfillUid): string | undefined {
  return box.changes('BackfillSet').findLast((change) => change.uid === uid)?.state;
}

function daily(options: Parameters<typeof job>[0] = {}): Scenario {
  return scenario({ dag: job({ schedule: DAILY, ...options }) });
}

test.each([
  ['forward', [-10, -9, -8, -7, -6, -5, -4, -3, -2, -1]],
  ['backward', [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10]],
] as const)('a backfill goes %s over its windows, and ends by itself', (order, days) => {
  const box = daily();
  const { uid } = start(box, { order });
  expect(created(box)).toEqual(days.slice(0, 2));
  runAll(box);
  expect(created(box)).toEqual(days);
  expect(stateOf(box, uid)).toBe('ended');
  expect(box.changes('BackfillMoved').at(-1)).toMatchObject({ createdCount: 10, skippedCount: 0, isDone: true });
  expect(box.state.backfills.size).toBe(0);
});

test('it never has more live runs than it may, over failovers too', () => {
  const box = daily();
  const { uid } = start(box, { maxActive: 3 });
  for (let i = 0; i < 10; i++) {
    expect(live(box)).toBeLessThanOrEqual(3);
    box.killOwner('2s');
    expect(live(box)).toBeLessThanOrEqual(3);
    expect(runOne(box)).toBe(true);
  }
  expect(created(box)).toEqual([-10, -9, -8, -7, -6, -5, -4, -3, -2, -1]);
  expect(stateOf(box, uid)).toBe('ended');
});

test('what its owner had not committed is created again, and once', () => {
  const box = daily();
  start(box);
  box.hold();
  runOne(box);
  box.killOwner();
  runAll(box);
  expect(created(box)).toEqual([-10, -9, -8, -7, -6, -5, -4, -3, -2, -1]);
});

test('the data interval goes from the window before to its own', () => {
  const box = daily();
  start(box, { fromAt: day(-3), toAt: day(-2) });
  expect(box.changes('RunCreated').map(({ firesAt, windowStart }) => [firesAt, windowStart])).toEqual([
    [day(-3), day(-4)],
    [day(-2), day(-3)],
  ]);
});

test('a range without a window ends at once', () => {
  const box = daily();
  const { uid } = start(box, { fromAt: (day(-3) + 1) as Instant, toAt: (day(-2) - 1) as Instant });
  expect(created(box)).toEqual([]);
  expect(stateOf(box, uid)).toBe('ended');
});

describe('which windows', () => {
  /** Days -4 … -1: succeeded, failed, live, none. */
  function history(): Scenario {
    const box = daily();
    const window = (no: number, outcome: 'succeeded' | 'permanent' | null) => {
      box.submit({ window: { schedule: 'default', at: day(no) } });
      if (outcome !== null) runOne(box, outcome);
    };
    window(-4, 'succeeded');
    window(-3, 'permanent');
    window(-2, null);
    return box;
  }

  test.each([
    ['missing', [-1]],
    ['failed', [-3]],
    ['all', [-4, -3, -1]],
  ] as const)('%s', (which, days) => {
    const box = history();
    start(box, { which, fromAt: day(-4), maxActive: 10 });
    expect(created(box)).toEqual(days);
  });

  test('what one backfill has made good, the next one leaves alone', () => {
    const box = history();
    runAll(box);
    start(box, { which: 'failed', fromAt: day(-4) });
    runAll(box);
    start(box, { which: 'failed', fromAt: day(-4) });
    expect(created(box)).toEqual([-3]);
  });

  test('what is in flight counts as there', () => {
    const box = daily();
    box.hold();
    box.submit({ window: { schedule: 'default', at: day(-1) } });
    start(box, { fromAt: day(-2), maxActive: 5 });
    box.settle();
    expect(created(box)).toEqual([-2]);
  });
});

test('two backfills of one range make one run for each window', () => {
  const box = daily();
  start(box, { maxActive: 3 });
  start(box, { order: 'backward', maxActive: 3 });
  runAll(box);
  expect(created(box).sort((a, b) => a - b)).toEqual([-10, -9, -8, -7, -6, -5, -4, -3, -2, -1]);
});

test('paused, it creates nothing, and its runs go on; resumed, it goes on', () => {
  const box = daily();
  const { uid } = start(box);
  set(box, uid, 'paused');
  runAll(box);
  box.killOwner();
  expect(created(box)).toEqual([-10, -9]);
  set(box, uid, 'running');
  runAll(box);
  expect(created(box)).toHaveLength(10);
});

test('cancelled, it creates nothing any more, and nothing brings it back', () => {
  const box = daily();
  const { uid } = start(box);
  expect(set(box, uid, 'cancelled').ok).toBe(true);
  runAll(box);
  expect(created(box)).toEqual([-10, -9]);
  expect(set(box, uid, 'running')).toMatchObject({ code: 'BACKFILL_ENDED' });
  expect(set(box, uid, 'cancelled')).toMatchObject({ ok: true });
  const foreign = { kind: 'SetBackfill', shard: box.shard, tenantId: 2 as never, uid, to: 'paused' } as const;
  expect(box.feed({ ...foreign, actor: box.actor })).toMatchObject({ code: 'BACKFILL_NOT_FOUND' });
});

test('a command that is sent again starts it once, also after it has ended', () => {
  const box = daily();
  const { uid } = start(box, { fromAt: day(-1) });
  const [started] = box.changes('BackfillStarted');
  const again = () => box.feed({ ...started!, kind: 'StartBackfill', windowCount: 1, uid, actor: box.actor });
  expect(again()).toMatchObject({ ok: true });
  runAll(box);
  expect(again()).toMatchObject({ ok: true });
  expect(box.changes('BackfillStarted')).toHaveLength(1);
});

test('an edit of the schedule, or its removal, does not alter a backfill that has started', () => {
  const box = daily();
  start(box);
  box.deploy(job({ schedule: every('30 12 * * *') }));
  runOne(box);
  box.deploy(job());
  runAll(box);
  expect(created(box)).toEqual([-10, -9, -8, -7, -6, -5, -4, -3, -2, -1]);
});

test('with its dag it is cancelled', () => {
  const box = daily();
  const { uid } = start(box);
  box.retire();
  expect(stateOf(box, uid)).toBe('cancelled');
  runAll(box);
  expect(created(box)).toEqual([-10, -9]);
});

test('at the limit of its dag it waits, and a live window goes first (I7)', () => {
  const box = daily({ maxActiveRuns: 1 });
  start(box);
  expect(created(box)).toEqual([-10]);
  box.advance('24h');
  expect(created(box, 'schedule')).toEqual([1]);
  expect(live(box)).toBe(2);
  runOne(box);
  expect(box.changes('RunAdmitted')).toHaveLength(1);
  expect(created(box)).toEqual([-10]);
  runOne(box);
  expect(created(box)).toEqual([-10, -9]);
});

test('a run that waited and was cancelled holds it back no more, while others run', () => {
  const box = daily({ schedule: every('0 0 * * *', { ifRunning: 'queue_all' }) });
  box.advance('24h');
  box.advance('24h');
  expect(live(box)).toBe(2);
  start(box, { fromAt: day(-2), toAt: day(-1) });
  expect(created(box)).toEqual([]);
  box.cancel(box.runIds[1]);
  box.node.work();
  expect(created(box)).toEqual([-2, -1]);
});

test('a window that is due when the backfill starts is left to the schedule (I1)', () => {
  const box = daily();
  // The clock leaps over midnight, and the backfill is the first thing that the owner hears of.
  box.node.wall = day(1);
  start(box, { fromAt: day(0), toAt: day(1) });
  expect(created(box, 'schedule')).toEqual([1]);
  expect(created(box)).toEqual([0]);
  box.advance('10m');
  expect(created(box, 'schedule')).toEqual([1]);
});

test('a window that has not come yet is left to the schedule, though whoever asked has a clock that is ahead (I1, I4)', () => {
  const box = daily();
  start(box, { fromAt: day(0), toAt: day(1), maxActive: 5 });
  expect(created(box)).toEqual([0]);
  box.advance('24h');
  expect(created(box, 'schedule')).toEqual([1]);
});

test('windows of a paused schedule in the range are not fired again when it is resumed (I1)', () => {
  const box = daily();
  box.pause();
  box.advance('72h');
  start(box, { fromAt: day(1), toAt: day(2), maxActive: 5 });
  expect(created(box)).toEqual([1, 2]);
  box.pause(false);
  const uidsOfRuns = box.changes('RunCreated').map(({ uid }) => uid);
  expect(new Set(uidsOfRuns).size).toBe(uidsOfRuns.length);
  expect(created(box, 'schedule')).not.toContain(2);
});

test('its runs go up to a task; one that a new version has lost stops it, with the reason', () => {
  const spec = { ...chain('extract', 'load'), schedule: DAILY };
  const box = scenario({ dag: spec });
  expect(start(box, { until: 'nothing' }).answer).toMatchObject({ code: 'UNTIL_INVALID' });
  const { uid } = start(box, { until: 'extract' });
  box.report(box.claim('extract'), 'succeeded');
  expect(box.run(box.runIds[0])).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  set(box, uid, 'paused');
  box.deploy({ ...chain('load'), schedule: DAILY });
  set(box, uid, 'running');
  expect(box.changes('BackfillSet').at(-1)).toMatchObject({
    state: 'stopped',
    reason: expect.stringContaining('extract'),
  });
});

test('a run of it that is cleared by hand is one of its live runs again', () => {
  const box = daily();
  start(box, { fromAt: day(-2) });
  const [first] = box.runIds as [RunId];
  runOne(box);
  box.clear(null, { runId: first });
  expect([...box.state.backfills.values()][0]?.liveRuns).toBe(2);
  box.killOwner();
  runAll(box);
  expect(box.changes('BackfillSet').at(-1)?.state).toBe('ended');
});

test('a run of it that is opened again and waits is admitted beside others, whatever its schedule does with its own (I29)', () => {
  const schedule = every('0 0 * * *', { ifRunning: 'queue_all' });
  const box = daily({ schedule, maxActiveRuns: 1 });
  start(box, { fromAt: day(-1), maxActive: 1 });
  const [first] = box.runIds as [RunId];
  runOne(box, 'permanent');
  box.submit({ count: 2 });
  box.retry('job', first);
  expect(box.run(first)).toMatchObject({ phase: 'open', admitted: false });
  box.deploy(job({ schedule, maxActiveRuns: 3 }));
  expect(box.run(first).admitted).toBe(true);
});

describe('the share of a backfill', () => {
  function crowded(share: number, more: Parameters<typeof dag>[1] = {}): Scenario {
    // Many claims: a load after each of them would take most of the time.
    const box = scenario({ dag: dag([task('job')], { schedule: DAILY, ...more }), audit: false });
    start(box, { maxActive: 50, fromAt: day(-60), share });
    box.submit({ count: 200 });
    return box;
  }

  /** How many of so many claims were of the backfill, each ended at once. */
  function shareOf(box: Scenario, claims: number): number {
    let own = 0;
    for (let i = 0; i < claims; i++) {
      const attempt = box.tryClaim()!;
      const cause = box.changes('RunCreated').find(({ runId }) => runId === attempt.claim.runId)?.cause;
      if (cause === 'backfill') own += 1;
      box.report(attempt, 'succeeded');
    }
    return own;
  }

  test.each([
    [0.05, 5],
    [0.2, 20],
  ])('while other work waits it gets %d of the claims', (share, expected) => {
    expect(shareOf(crowded(share), 100)).toBe(expected);
  });

  test('the priority of the other work does not matter', () => {
    expect(shareOf(crowded(0.05, { priority: 'low' }), 100)).toBe(5);
  });

  test('it holds no more slots than its share, and one at least', () => {
    const box = crowded(0.05);
    for (let i = 0; i < 100; i++) box.tryClaim();
    expect(box.state.backfillAttempts).toBe(4);
  });

  test('when nothing else waits it gets all', () => {
    const box = daily();
    start(box, { maxActive: 10 });
    for (let i = 0; i < 10; i++) expect(box.tryClaim()).not.toBeNull();
    expect(box.state.backfillAttempts).toBe(10);
  });
});

test('a run of a backfill keeps its lane: another priority is refused', () => {
  const box = daily();
  start(box);
  expect(box.setPriority('high', box.runIds.at(-1))).toMatchObject({ ok: false, code: 'RUN_OF_BACKFILL' });
});

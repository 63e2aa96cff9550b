import { expect, test } from 'vitest';
import { type DagId, type RunId, type ScheduleNo, scheduleIdOf } from '../../model/ids.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';

const minutely = job({ schedule: every('* * * * *') });

const scheduleNo = 1 as ScheduleNo;
const scheduleOf = (box: Scenario, dagId = box.dagId) =>
  box.node.store.schedules.find((schedule) => schedule.dagId === dagId);

/** Deciding its windows throws from here on, until it is loaded anew. */
function spoil(box: Scenario, dagId: DagId): void {
  const timetable = new Proxy({}, { get: () => { throw new Error('cron is broken'); } }); // biome-ignore format: one thought
  // From its load on it is in memory.
  box.node.work();
  Object.assign(box.state.schedules.named(dagId, 'default')!, { timetable });
}

function strike(box: Scenario, dagId = box.dagId) {
  const scheduleId = scheduleIdOf({ dagId, scheduleNo });
  return box.feed({ kind: 'StrikeSchedule', shard: box.shard, scheduleId, reason: 'cron is broken' });
}

test('a tick that throws about a schedule names it, and no run whose timer rang before it (I57)', () => {
  const box = scenario({ dag: minutely, settings: { leaseMs: 1_000_000 } });
  // Its timeout comes up in the same tick as the window.
  box.submit({ dagId: box.deploy(job({ timeoutMs: 60_000 }), 'other') });
  box.heartbeat();
  box.claim('job');
  box.heartbeat();
  spoil(box, box.dagId);
  expect(() => box.advance('60s')).toThrow('cron is broken');
  expect(box.state.currentRun).toBeNull();
  expect(box.state.currentSchedule?.dagId).toBe(box.dagId);
});

test('a schedule that is struck is paused with the reason, fires nothing, and holds up no other', () => {
  const box = scenario({ dag: minutely });
  const other = box.deploy(minutely, 'other');
  spoil(box, box.dagId);
  expect(strike(box)).toEqual({ ok: true, kind: 'done' });
  expect(strike(box)).toEqual({ ok: true, kind: 'done' });
  expect(box.changes('ScheduleSet').filter(({ fault }) => fault !== null)).toMatchObject([
    { dagId: box.dagId, paused: true, fault: 'cron is broken', actor: 'system' },
  ]);
  box.advance('2m').killOwner().advance('1m');
  expect(new Set(box.changes('RunCreated').map(({ dagId }) => dagId))).toEqual(new Set([other]));
  expect(scheduleOf(box)).toMatchObject({ paused: true, fault: 'cron is broken' });
});

test.each([
  ['resumed', (box: Scenario) => box.pause(false)],
  ['deployed with another schedule', (box: Scenario) => box.tryDeploy(job({ schedule: every('*/1 * * * *') }))],
])('%s, it goes on from now (I6)', (_, mend) => {
  const box = scenario({ dag: minutely });
  box.advance('1m');
  spoil(box, box.dagId);
  strike(box);
  box.advance('5m');
  expect(mend(box)).toMatchObject({ ok: true });
  expect(scheduleOf(box)).toMatchObject({ paused: false, fault: null });
  box.advance('1m');
  expect(box.changes('RunCreated')).toHaveLength(2);
});

test('its dag can be retired, whatever is wrong with it', () => {
  const box = scenario({ dag: minutely });
  spoil(box, box.dagId);
  strike(box);
  expect(box.retire()).toEqual({ ok: true, kind: 'done' });
});

test('one that can not even be loaded stops no load: it is paused by the first step (I57)', () => {
  const box = scenario({ dag: minutely, audit: false });
  const other = box.deploy(minutely, 'other');
  const { shard, dagId, actor } = box;
  const spec = every('this is no cron');
  const at = box.node.wall;
  const which = { shard, dagId, scheduleNo, name: 'default', origin: 'definition' } as const;
  const set = { ...which, revision: 2, spec, paused: false, decidedUntil: at, fault: null, fired: 0, actor, at };
  box.node.store.commit([{ kind: 'ScheduleSet', ...set, dueAt: at }], 0);
  box.killOwner().advance('1m');
  expect(scheduleOf(box)).toMatchObject({ paused: true, fault: expect.stringContaining('this is no') });
  expect(box.changes('RunCreated').map((run) => run.dagId)).toEqual([other]);
  expect(box.cancel(1 as RunId)).toMatchObject({ ok: false });
});

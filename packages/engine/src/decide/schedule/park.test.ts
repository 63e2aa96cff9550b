import { describe, expect, test } from 'vitest';
import { NOTHING_NEAR } from '../../apply/restore.ts';
import type { Instant } from '../../model/ids.ts';
import type { ZoneData } from '../../model/schedule/zone.ts';
import { forgetFarSchedules } from '../../tables/schedule/due.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';
import { takeOver } from '../../testing/take-over.ts';
import { parkedNeeds } from './park.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const hourly = every('0 * * * *');
const settings = { horizonMs: 10 * MINUTE };

const inMemory = (box: Scenario) => [...box.state.schedules.values()].map(({ name }) => name).sort();
const decided = (box: Scenario) =>
  box.node.store.windows.map(
    ({ name, firesAt, skipped }) => `${name} ${(firesAt - START) / MINUTE} ${skipped ?? 'run'}`,
  );

describe('a schedule that is not due soon', () => {
  test('is in the database only, comes back before it is due, and fires each window once (I1, I2)', () => {
    const box = scenario({ dag: job(), runs: 0, settings });
    box.createSchedules({ far: hourly, near: every('* * * * *', { missed: 'skip' }) });
    box.advance('5m');
    expect(inMemory(box)).toEqual(['near']);
    box.advance('48m');
    expect(inMemory(box)).toEqual(['far', 'near']);
    box.advance('3h');
    expect(decided(box).filter((window) => window.startsWith('far'))).toEqual([
      'far 60 run',
      'far 120 run',
      'far 180 run',
    ]);
    expect(decided(box).filter((window) => window.startsWith('near'))).toHaveLength(233);
  });

  test('stays in memory until its next due time was looked at: its row may not show what was decided (I1)', () => {
    const box = scenario({ dag: job(), runs: 0, settings });
    box.createSchedules({ far: hourly });
    const { schedules } = box.state;
    const [schedule] = schedules.values();
    box.state.settledBatchNo = box.state.batchNo;
    schedules.toPark.add(schedule!);
    forgetFarSchedules(box.state);
    expect(inMemory(box)).toEqual(['far']);
    box.advance('1m');
    expect(inMemory(box)).toEqual([]);
  });

  test('one that fires often writes no due time', () => {
    const box = scenario({ dag: job({ schedule: every('* * * * *') }), settings });
    box.advance('30m');
    expect(box.changes('ScheduleParked')).toEqual([]);
  });

  test('is found by a new owner, at whatever moment the old one is lost', () => {
    for (const at of [1, 49, 52, 58, 60, 61]) {
      const box = scenario({ dag: job({ schedule: hourly }), settings });
      box.node.advance(at * MINUTE);
      box.killOwner('3s').advance('125m');
      const expected = ['default 60 run', 'default 120 run', 'default 180 run'];
      expect(decided(box)).toEqual(expected.filter((window) => Number(window.split(' ')[1]) <= at + 125));
    }
  });

  test('is found by each command that names it (I6)', () => {
    const box = scenario({ dag: job(), runs: 0, settings });
    box.createSchedules({ one: hourly, two: hourly, three: hourly });
    box.advance('1m');
    expect(inMemory(box)).toEqual([]);
    expect(box.createSchedules({ one: hourly })).toMatchObject({ ok: true });
    expect(box.createSchedules({ one: every('5 * * * *') })).toMatchObject({ code: 'SCHEDULE_EXISTS' });
    expect(box.editSchedule('one', every('30 * * * *'))).toMatchObject({ ok: true });
    expect(box.pause(true, 'two')).toMatchObject({ ok: true });
    expect(box.deleteSchedule('three')).toMatchObject({ ok: true });
    expect(box.deleteSchedule('three')).toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    expect(box.tryDeploy(job({ schedule: null, timeoutMs: 5 }))).toMatchObject({ ok: true });
    box.advance('70m');
    box.pause(false, 'two');
    expect(decided(box)).toEqual(['one 30 run', 'two 60 run']);
    expect(box.retire()).toMatchObject({ ok: true });
    expect(box.node.store.schedules).toEqual([]);
  });

  test('one that was removed in a batch in flight is not taken in again', () => {
    const box = scenario({ dag: job(), runs: 0, settings });
    box.createSchedules({ one: every('2 * * * *') });
    box.advance('1m');
    box.hold();
    box.deleteSchedule('one');
    box.createSchedules({ one: every('3 * * * *') });
    box.settle().advance('5m');
    expect(decided(box)).toEqual(['one 3 run']);
  });

  test('thousands that are due in one millisecond come page by page, and none is lost (I2)', () => {
    const box = scenario({ dag: job(), runs: 0, settings, audit: false });
    const many = Object.fromEntries(Array.from({ length: 2_500 }, (_, no) => [`s${no}`, hourly]));
    box.createSchedules(many);
    box.advance('61m');
    expect(box.node.store.windows).toHaveLength(2_500);
    box.killOwner().advance('60m');
    expect(box.node.store.windows).toHaveLength(5_000);
    expect(box.state.schedules.size).toBe(0);
  });

  test('runs of its windows wait by its policy while it is in the database only (I7, I73)', () => {
    const box = scenario({ dag: job(), runs: 0, settings: { ...settings, leaseMs: 100 * HOUR } });
    box.createSchedules({ one: every('0 * * * *', { ifRunning: 'queue_all' }) });
    box.advance('130m');
    const counts = () => {
      const runs = box.runIds.map((runId) => box.run(runId)).filter(({ phase }) => phase !== 'ended');
      return [runs.filter(({ admitted }) => admitted).length, runs.filter(({ admitted }) => !admitted).length];
    };
    expect([inMemory(box), counts()]).toEqual([[], [1, 1]]);
    box.killOwner('3s');
    expect([inMemory(box), counts()]).toEqual([[], [1, 1]]);
    box.report(box.claim('job'), 'succeeded');
    expect(counts()).toEqual([1, 0]);
  });

  test('a run of before an edit does not wait by the new policy, also when a takeover is still loading (I7)', () => {
    const box = scenario({
      dag: { ...job(), maxActiveRuns: 2 },
      runs: 0,
      settings: { ...settings, leaseMs: 100 * HOUR },
      audit: false,
    });
    box.createSchedules({ one: every('0 * * * *') });
    box.advance('190m');
    const admitted = () => box.runIds.map((runId) => box.run(runId).admitted);
    expect(admitted()).toEqual([true, true, false]);
    box.editSchedule('one', every('13 * * * *', { ifRunning: 'queue_all' }));
    const [first] = box.runIds;
    const loadRest = takeOver(box, ({ runId }) => runId === first);
    box.advance('2s');
    loadRest();
    box.report(box.claim('job'), 'succeeded');
    expect(admitted().at(-1)).toBe(true);
  });

  test('any number of them may wait for other runs (I73)', () => {
    const box = scenario({ dag: job(), runs: 0, settings, audit: false });
    const spec = every('0 0 1 1 *', { ifRunning: 'queue_all' });
    for (let from = 0; from < 6_000; from += 1_000) {
      const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, no) => [`s${from + no}`, spec]));
      expect(box.createSchedules(many)).toMatchObject({ ok: true });
    }
    box.advance('1m');
    expect(box.state.schedules.size).toBe(0);
  });

  test('stays in memory by its policy while a server creates runs that do not tell it, and until none of them waits (I63)', () => {
    let isTold = false;
    const box = scenario({
      dag: job(),
      runs: 0,
      settings: { ...settings, leaseMs: 100 * HOUR, areWaitsTold: () => isTold },
    });
    box.createSchedules({ one: every('0 * * * *', { ifRunning: 'queue_all' }) });
    box.advance('130m').killOwner('3s');
    expect(inMemory(box)).toEqual(['one']);
    isTold = true;
    box.advance('60m');
    expect(inMemory(box)).toEqual(['one']);
    for (let left = 3; left > 0; left--) box.report(box.claim('job'), 'succeeded');
    box.advance('60m');
    expect(inMemory(box)).toEqual([]);
  });
});

test('after a takeover, what is due within seconds is fetched first, of all shards', () => {
  const box = scenario({ dag: job(), runs: 0, settings });
  const { shards, now } = box.state;
  const asked = () => parkedNeeds(box.state).flatMap((need) => (need.kind === 'due' ? need.ranges : []));
  for (const shard of shards.values()) Object.assign(shard, NOTHING_NEAR);
  expect(asked().map(({ until }) => until - now)).toEqual([...shards].map(() => 30_000));
  const [first, ...others] = shards.values();
  for (const shard of others) shard.nearUntil = (now + 30_000) as Instant;
  expect(asked()).toMatchObject([{ shard: first!.shard, until: now + 30_000 }]);
  first!.nearUntil = (now + 30_000) as Instant;
  expect(asked().map(({ until }) => until - now)).toEqual([...shards].map(() => 10 * MINUTE));
});

/** A zone whose clock is ahead by so many hours. */
function moving() {
  const zone = { hours: 1, version: 'a' };
  const zoneData = (name: string, from: Instant, until: Instant): ZoneData => {
    const span = { fromMs: from - 10 * 24 * HOUR, untilMs: until + 10 * 24 * HOUR };
    const initialOffsetMs = name === 'UTC' ? 0 : zone.hours * HOUR;
    return { zone: name, tzVersion: zone.version, initialOffsetMs, transitions: [], ...span };
  };
  // The version `a` was an hour ahead.
  const zoneDataOf = (version: string) => (version !== 'a' ? null : before);
  const before = (name: string, from: Instant, until: Instant): ZoneData => ({
    ...zoneData(name, from, until),
    initialOffsetMs: name === 'UTC' ? 0 : HOUR,
  });
  return { zone, settings: { ...settings, zoneData, zoneDataOf, zoneVersion: () => zone.version } };
}

describe('newer zone data', () => {
  test('moves due times of schedules that are in the database only, also where the owner is lost meanwhile (I3)', () => {
    const { zone, settings: own } = moving();
    const box = scenario({ dag: job(), runs: 0, settings: own, audit: false });
    const wall = every('0 12 * * *', { zone: 'X' });
    const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, no) => [`s${no}`, wall]));
    box.createSchedules({ ...many, utc: every('0 12 * * *') });
    box.advance('1m');
    expect(box.changes('ZonesApplied')).toMatchObject([{ version: 'a' }]);
    Object.assign(zone, { hours: 3, version: 'b' });
    box.killOwner();
    box.killOwner();
    expect(box.changes('ZonesApplied').map(({ version }) => version)).toEqual(['a', 'b']);
    const moved = box.changes('ScheduleParked');
    expect([moved.length, new Set(moved.map(({ dueAt }) => dueAt))]).toEqual([1_200, new Set([START + 9 * HOUR])]);
    box.node.wall = (START + 8 * HOUR + 58 * MINUTE) as Instant;
    box.node.state.lookedAt = box.node.wall;
    box.advance('5m');
    box.node.wall = (START + 11 * HOUR + 58 * MINUTE) as Instant;
    box.node.state.lookedAt = box.node.wall;
    box.advance('5m');
    expect(new Set(decided(box))).toEqual(
      new Set([...Object.keys(many).map((name) => `${name} 540 run`), 'utc 720 run']),
    );
    expect(box.node.store.windows).toHaveLength(1_201);
  });

  test.each([
    ['in memory', 48 * HOUR],
    ['in the database only', 10 * MINUTE],
  ])('that moves a time later just after it was decided does not decide it again: %s (I3)', (_, horizonMs) => {
    const { zone, settings: own } = moving();
    const box = scenario({ dag: job(), runs: 0, settings: { ...own, horizonMs } });
    const nightly = every('0 12 * * *', { zone: 'X' });
    // Steps within the hour keep their pace.
    box.createSchedules({
      nightly,
      noons: every('0,30 12 * * *', { zone: 'X' }),
      steps: every('*/30 * * * *', { zone: 'X' }),
    });
    box.advance('11h').advance('5m');
    const fired = ['nightly 660 run', 'noons 660 run'];
    expect(decided(box).filter((window) => !window.startsWith('steps'))).toEqual(fired);
    Object.assign(zone, { hours: 0, version: 'b' });
    box.killOwner().advance('2h');
    box.killOwner().advance('30m');
    expect(decided(box).filter((window) => !window.startsWith('steps'))).toEqual([...fired, 'noons 750 run']);
    expect(decided(box).filter((window) => window.startsWith('steps'))).toHaveLength(27);
    box.advance('23h');
    expect(decided(box).filter((window) => window.startsWith('nightly'))).toEqual([
      'nightly 660 run',
      'nightly 2160 run',
    ]);
  });

  test('nor where the shard has only a schedule that is always in memory, because its runs wait for others (I3)', () => {
    const { zone, settings: own } = moving();
    const box = scenario({ dag: job(), runs: 0, settings: own });
    box.createSchedules({ nightly: every('0 12 * * *', { zone: 'X', ifRunning: 'queue_one' }) });
    box.advance('11h').advance('5m');
    Object.assign(zone, { hours: 0, version: 'b' });
    box.killOwner().advance('2h');
    box.killOwner().advance('30m');
    expect(decided(box)).toEqual(['nightly 660 run']);
  });

  test('nor where an earlier release did not note by which data such a schedule is decided', () => {
    const { settings: own } = moving();
    const box = scenario({ dag: job(), runs: 0, settings: own, audit: false });
    box.createSchedules({ nightly: every('0 12 * * *', { zone: 'X', ifRunning: 'queue_one' }) });
    for (const shard of box.state.shards.values()) shard.zoneVersion = null;
    box.advance('11h').advance('5m');
    expect([...box.state.shards.values()].map(({ zoneVersion }) => zoneVersion)).toEqual(['a']);
  });

  test('that moves a time later costs no change; the schedule is parked again when it is fetched', () => {
    const { zone, settings: own } = moving();
    const box = scenario({ dag: job(), runs: 0, settings: own });
    box.createSchedules({ one: every('0 12 * * *', { zone: 'X' }) });
    box.advance('1m');
    Object.assign(zone, { hours: 0, version: 'b' });
    box.killOwner().advance('13h');
    expect(decided(box)).toEqual(['one 720 run']);
  });
});

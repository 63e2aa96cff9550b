import type { Instant, MonoMs } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { type ClockSeen, DatabaseClock } from './database-clock.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const BOUND_MS = 60_000;

/** A machine, a database and the way between them, each with a clock of its own. */
function rig(machineAheadMs: number) {
  const world = {
    ms: 0,
    machineAheadMs,
    databaseAheadMs: 0,
    suspendedMs: 0,
    tripsMs: [[1, 1]] as (readonly [there: number, back: number])[],
    isIdle: false,
    told: [] as string[],
    seen: [] as ClockSeen[],
    isAway: false,
  };
  let asked = 0;
  const clock = new DatabaseClock({
    machine: {
      wall: () => (NOON + world.ms + world.machineAheadMs) as Instant,
      mono: () => (world.ms - world.suspendedMs) as MonoMs,
      after: () => () => undefined,
    },
    readDatabase: async () => {
      const [there, back] = world.tripsMs[asked++ % world.tripsMs.length]!;
      if (world.isAway) throw new Error('away');
      world.ms += there;
      const answer = NOON + world.ms + world.databaseAheadMs;
      world.ms += back;
      return answer;
    },
    boundMs: BOUND_MS,
    isIdle: () => world.isIdle,
    onMeasured: (seen) => world.seen.push(seen),
    tell: (_level, message) => void world.told.push(message),
  });
  /** How far it is from the database's clock. */
  const offMs = () => clock.wall() - (NOON + world.ms + world.databaseAheadMs);
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      world.ms += Math.min(100, left);
      const before = clock.wall();
      world.ms += 0;
      expect(clock.wall()).toBeGreaterThanOrEqual(before);
    }
  };
  return { world, clock, offMs, pass };
}

test.each([0, 3_600_000, -3_600_000, 5_000])(
  'a machine that is %i ms ahead schedules by the database',
  async (ahead) => {
    const { clock, offMs, world } = rig(ahead);
    await clock.runOnce();
    expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
    expect(clock.seen()?.aheadMs).toBe(ahead);
    expect(clock.unfit() === null).toBe(Math.abs(ahead) <= BOUND_MS);
    expect(world.seen).toHaveLength(1);
  },
);

test('of three trips the shortest counts, halved', async () => {
  const { clock, offMs, world } = rig(0);
  world.tripsMs = [
    [900, 10],
    [4, 4],
    [20, 700],
  ];
  await clock.runOnce();
  expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
});

test('a machine whose clock is set does not move it, and beyond the bound is unfit until it is corrected', async () => {
  const { clock, offMs, world } = rig(0);
  await clock.runOnce();
  world.machineAheadMs = 3_600_000;
  expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
  await clock.runOnce();
  expect(clock.unfit()).toMatch(/3600\.0 s ahead of the database's/);
  world.machineAheadMs = 0;
  await clock.runOnce();
  expect(clock.unfit()).toBeNull();
  expect(world.told.at(-1)).toMatch(/agrees/);
  expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
});

test.each([800, -800, -40_000])(
  'a database that is set by %i ms is followed by slewing, never backwards',
  async (byMs) => {
    const { clock, offMs, pass, world } = rig(0);
    await clock.runOnce();
    world.databaseAheadMs = byMs;
    await clock.runOnce();
    // Not at once.
    expect(Math.abs(offMs() + byMs)).toBeLessThan(50);
    await pass(Math.abs(byMs) * 10 + 1_000);
    expect(Math.abs(offMs())).toBeLessThanOrEqual(2);
  },
);

test('a clock that stood still with its machine leaps forward', async () => {
  const { clock, offMs, world } = rig(0);
  await clock.runOnce();
  world.ms += 600_000;
  world.suspendedMs += 600_000;
  await clock.runOnce();
  expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
});

test('a database that is set back by more than the bound is followed only without shards', async () => {
  const { clock, offMs, world } = rig(0);
  await clock.runOnce();
  world.databaseAheadMs = -7_200_000;
  world.machineAheadMs = -7_200_000;
  const before = clock.wall();
  await clock.runOnce();
  expect(clock.unfit()).toMatch(/set back by 7200 s/);
  expect(clock.wall()).toBeGreaterThanOrEqual(before);
  world.isIdle = true;
  await clock.runOnce();
  expect(clock.unfit()).toBeNull();
  expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
});

test('a database that is away leaves the clock as it is', async () => {
  const { clock, offMs, pass, world } = rig(0);
  await clock.runOnce();
  world.isAway = true;
  await pass(5_000);
  await clock.runOnce();
  expect(Math.abs(offMs())).toBeLessThanOrEqual(1);
  expect(clock.unfit()).toBeNull();
});

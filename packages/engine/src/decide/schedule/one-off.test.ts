import { describe, expect, test } from 'vitest';
import type { ScheduleSpec } from '../../model/dag/spec.ts';
import type { Instant } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';

const MINUTE = 60_000;
const atMs = (...offsets: number[]): ScheduleSpec => ({
  at: offsets.map((ms) => (START + ms) as Instant),
  zone: 'UTC',
  gap: 'skip',
  missed: 'most_recent',
  missedLimit: 10,
});

const decided = (box: Scenario) =>
  box.node.store.windows.map(({ name, firesAt, skipped }) => `${name} ${firesAt - START} ${skipped ?? 'run'}`);
const names = (box: Scenario) => box.node.store.schedules.map(({ name }) => name);

describe('a schedule of given times, created without a deploy', () => {
  test('removes itself with its last window, and the window stays recorded (I2)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ once: atMs(MINUTE), twice: atMs(MINUTE, 2 * MINUTE) });
    box.advance('1m');
    expect(names(box)).toEqual(['twice']);
    box.killOwner().advance('1m');
    expect(names(box)).toEqual([]);
    expect(decided(box)).toEqual(['once 60000 run', 'twice 60000 run', 'twice 120000 run']);
    expect(box.changes('ScheduleRemoved').map(({ name, actor }) => [name, actor])).toEqual([
      ['once', 'schedule'],
      ['twice', 'schedule'],
    ]);
  });

  test('one of a definition stays', () => {
    const box = scenario({ dag: job({ schedule: atMs(MINUTE) }) });
    box.advance('1m');
    expect(decided(box)).toEqual(['default 60000 run']);
    expect(names(box)).toEqual(['default']);
  });

  test.each([
    ['missed', (box: Scenario): unknown => box.killOwner('10m')],
    [
      'paused',
      (box: Scenario): void => {
        box.pause(true, 'once');
        box.advance('2m');
        box.pause(false, 'once');
      },
    ],
  ] as const)('one that is skipped (%s) goes as well', (reason, happens) => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ once: { ...atMs(MINUTE), missed: 'skip' } });
    happens(box);
    expect(decided(box)).toEqual([`once 60000 ${reason}`]);
    expect(names(box)).toEqual([]);
  });

  test('a paused one waits for its resume, and then fires', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ once: atMs(MINUTE) });
    box.pause(true, 'once');
    box.advance('5m');
    expect([names(box), decided(box)]).toEqual([['once'], []]);
    box.pause(false, 'once');
    expect([names(box), decided(box)]).toEqual([[], ['once 60000 run']]);
  });

  test('a time that passed while the command was on its way fires at once', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.advance('1m');
    expect(box.createSchedules({ once: atMs(MINUTE - 5) })).toMatchObject({ ok: true });
    expect([names(box), decided(box)]).toEqual([[], ['once 59995 run']]);
  });

  test('times that have passed for longer are refused, in an edit too', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ once: atMs(30 * MINUTE) });
    box.advance('10m');
    const refused = { ok: false, code: 'SCHEDULE_INVALID', detail: expect.stringContaining('Its time has passed') };
    expect(box.createSchedules({ late: atMs(MINUTE) })).toMatchObject(refused);
    expect(box.editSchedule('once', atMs(10 * MINUTE - 1))).toMatchObject(refused);
    expect(box.createSchedules({ late: atMs(MINUTE, 2 * MINUTE) })).toMatchObject({
      detail: expect.stringContaining('All its times have passed'),
    });
    expect([names(box), decided(box)]).toEqual([['once'], []]);
  });

  test('fires although the clock went back since another schedule was removed (I10)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ other: every('* * * * *') });
    box.advance('60m');
    box.deleteSchedule('other');
    box.leap('-30m');
    const at = 40 * MINUTE;
    expect(box.createSchedules({ once: atMs(at) })).toMatchObject({ ok: true });
    box.advance('15m');
    expect(decided(box).at(-1)).toBe(`once ${at} run`);
    expect(names(box)).toEqual([]);
  });

  test('one with runNow runs now and at its time', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ once: { ...atMs(MINUTE), runNow: true } });
    box.advance('1m');
    expect(decided(box)).toEqual(['once 0 run', 'once 60000 run']);
    expect(names(box)).toEqual([]);
  });

  test('an edit moves its time; the old one does not fire (I6)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.createSchedules({ once: atMs(MINUTE) });
    box.editSchedule('once', atMs(3 * MINUTE));
    box.advance('5m');
    expect(decided(box)).toEqual(['once 180000 run']);
    expect(names(box)).toEqual([]);
  });
});

test('a schedule goes on after a window that was asked for at the instant in which it is due', () => {
  const box = scenario({ dag: job({ schedule: every('* * * * *') }) });
  box.node.advance(MINUTE - 1);
  box.node.wall = (START + MINUTE) as Instant;
  box.submit({ window: { schedule: 'default', at: (START + MINUTE) as Instant } });
  box.advance('2m');
  expect(decided(box)).toEqual(['default 60000 run', 'default 120000 run', 'default 180000 run']);
});

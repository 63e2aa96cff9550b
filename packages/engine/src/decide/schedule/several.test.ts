import { describe, expect, test } from 'vitest';
import type { ScheduleNo } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, every, job, task } from '../../testing/specs.ts';
import { uidOfWindow } from '../run/window-uid.ts';

const MINUTE = 60_000;
const minutely = every('* * * * *');
const everyOther = every('*/2 * * * *');

/** `nightly +3`: a run for the window 3 minutes after the start. */
function fired(box: Scenario): string[] {
  return box.node.store.windows.map(({ name, firesAt, skipped, count }) => {
    const minute = (firesAt - START) / MINUTE;
    return skipped === null ? `${name} +${minute}` : `${name} -${minute} ${skipped} ×${count}`;
  });
}

const named = (schedules: Record<string, ReturnType<typeof every>>) =>
  dag([task('job')], { schedules: Object.entries(schedules).map(([name, spec]) => ({ name, spec })) });

const numbers = (box: Scenario) =>
  box.node.store.schedules
    .filter(({ dagId }) => dagId === box.dagId)
    .map(({ name, scheduleNo, origin }) => `${scheduleNo} ${name} ${origin}`);

describe('several schedules of one dag', () => {
  test('each fires its own windows, also those of one instant, with its own params and priority', () => {
    const one = { ...minutely, params: '{"region":"eu"}', priority: 'high' } as const;
    const box = scenario({ dag: named({ one, two: everyOther }), runs: 0 });
    box.advance('2m').killOwner().advance('1m');
    expect(fired(box)).toEqual(['one +1', 'one +2', 'two +2', 'one +3']);
    const runs = box.changes('RunCreated');
    expect(runs.map(({ params, priority, scheduleNo }) => [params, priority, scheduleNo])).toEqual([
      ['{"region":"eu"}', 'high', 1],
      ['{"region":"eu"}', 'high', 1],
      [null, 'normal', 2],
      ['{"region":"eu"}', 'high', 1],
    ]);
    expect(new Set(runs.map(({ uid }) => uid)).size).toBe(4);
  });

  test('the first of a dag makes the uids that it made when there was only one (I1)', () => {
    const box = scenario({ dag: job({ schedule: minutely }) });
    box.advance('1m');
    const ref = { dagId: box.dagId, scheduleNo: 1 as ScheduleNo };
    expect(box.changes('RunCreated')[0]?.uid).toBe(uidOfWindow(box.shard, ref, (START + MINUTE) as never));
    // As it was recorded before there were several.
    expect(
      uidOfWindow(3 as never, { dagId: 67 as never, scheduleNo: 1 as ScheduleNo }, 1_700_000_040_000 as never),
    ).toBe('018bcfe6-0440-7b70-abdb-ea499d000003');
  });

  test('an order in the definition does not count, and a new name is a new schedule; no due time fires twice (I6)', () => {
    const box = scenario({ dag: named({ one: minutely, two: everyOther }), runs: 0 });
    box.advance('2m');
    expect(box.tryDeploy(named({ two: everyOther, one: minutely }))).toMatchObject({ ok: true });
    expect(box.changes('ScheduleSet')).toHaveLength(2);
    expect(box.tryDeploy(named({ renamed: minutely, two: minutely }))).toMatchObject({ ok: true });
    expect(numbers(box)).toEqual(['2 two definition', '3 renamed definition']);
    box.advance('1m');
    expect(fired(box)).toEqual(['one +1', 'one +2', 'two +2', 'two +3', 'renamed +3']);
  });

  test('a number is never given again, not after a load either', () => {
    const box = scenario({ dag: named({ one: minutely, two: minutely }), runs: 0 });
    box.tryDeploy(named({ one: minutely }));
    box.killOwner();
    box.tryDeploy(named({ one: minutely, two: minutely }));
    expect(numbers(box)).toEqual(['1 one definition', '3 two definition']);
  });

  test('with a clock that went back, a schedule that comes again fires no window of the one before (I6)', () => {
    const box = scenario({ dag: named({ one: minutely }), runs: 0 });
    box.advance('3m');
    box.tryDeploy(job());
    box.leap('-2m');
    box.tryDeploy(named({ one: minutely }));
    box.advance('4m');
    expect(fired(box)).toEqual(['one +1', 'one +2', 'one +3', 'one +4', 'one +5']);
  });

  test('one that throws is paused; the others of its dag go on (I57)', () => {
    const box = scenario({ dag: named({ one: minutely, two: minutely }), runs: 0 });
    const [first] = box.state.schedules.ofDag(box.dagId);
    box.feed({ kind: 'StrikeSchedule', shard: box.shard, scheduleId: first!.id, reason: 'cron is broken' });
    box.advance('1m');
    expect(fired(box)).toEqual(['two +1']);
  });
});

describe('schedules without a deploy', () => {
  const withDefault = () => scenario({ dag: job({ schedule: everyOther }) });

  test('are created, edited, paused, resumed and deleted; each takes effect at once (I6)', () => {
    const box = withDefault();
    expect(box.createSchedules({ own: every('* * * * *', { missed: 'skip' }) })).toMatchObject({ ok: true });
    box.advance('1m');
    expect(box.pause(true, 'own')).toMatchObject({ ok: true });
    box.advance('1m');
    expect(box.pause(false, 'own')).toMatchObject({ ok: true });
    box.advance('1m');
    expect(box.editSchedule('own', everyOther)).toMatchObject({ ok: true });
    box.advance('2m').killOwner();
    expect(box.deleteSchedule('own')).toMatchObject({ ok: true });
    box.advance('1m');
    expect(fired(box)).toEqual([
      ...['own +1', 'default +2', 'own -2 paused ×1', 'own +3'],
      ...['default +4', 'own +4', 'default +6'],
    ]);
  });

  test('a deploy leaves them alone, and does not take their name', () => {
    const box = withDefault();
    box.createSchedules({ own: minutely });
    expect(box.tryDeploy(job({ maxActiveRuns: 3 }))).toMatchObject({ ok: true });
    expect(numbers(box)).toEqual(['2 own api']);
    expect(box.tryDeploy(named({ own: everyOther }))).toEqual({ ok: false, code: 'SCHEDULE_EXISTS', detail: 'own' });
    expect(numbers(box)).toEqual(['2 own api']);
  });

  test('one of the definition can be paused, which survives deploys, and not altered', () => {
    const box = withDefault();
    expect(box.pause(true, 'default')).toMatchObject({ ok: true });
    expect(box.tryDeploy(job({ schedule: minutely }))).toMatchObject({ ok: true });
    expect(box.state.schedules.named(box.dagId, 'default')).toMatchObject({ paused: true, spec: minutely });
    const refused = { ok: false, code: 'SCHEDULE_OF_DEFINITION', detail: 'default' };
    expect(box.editSchedule('default', minutely)).toEqual(refused);
    expect(box.deleteSchedule('default')).toEqual(refused);
    expect(box.createSchedules({ default: minutely })).toMatchObject({ ok: false, code: 'SCHEDULE_EXISTS' });
  });

  test('a pause of the dag pauses them all', () => {
    const box = withDefault();
    box.createSchedules({ own: minutely });
    expect(box.pause(true)).toMatchObject({ ok: true });
    box.advance('2m');
    expect(fired(box)).toEqual([]);
    box.pause(false);
    box.advance('1m');
    expect(fired(box)).toEqual(['default +2', 'own -1 paused ×1', 'own +2', 'own +3']);
  });

  test('several are created together or not at all; the same again changes nothing (I13)', () => {
    const box = withDefault();
    const both = { a: minutely, b: every('0 0 30 2 *') };
    expect(box.createSchedules(both)).toEqual({
      ok: false,
      code: 'SCHEDULE_INVALID',
      detail: expect.stringMatching(/^Schedule b: The cron expression .* never fires/),
    });
    expect(numbers(box)).toEqual(['1 default definition']);
    expect(box.createSchedules({ a: minutely, b: everyOther })).toMatchObject({ ok: true });
    expect(box.createSchedules({ a: minutely, b: everyOther })).toMatchObject({ ok: true });
    expect(box.createSchedules({ a: everyOther })).toMatchObject({ ok: false, code: 'SCHEDULE_EXISTS' });
    expect(numbers(box)).toEqual(['1 default definition', '2 a api', '3 b api']);
  });

  test('go with their dag; its next deploy brings those of the definition back', () => {
    const box = withDefault();
    box.createSchedules({ own: minutely });
    expect(box.retire()).toMatchObject({ ok: true });
    expect(numbers(box)).toEqual([]);
    expect(box.createSchedules({ own: minutely })).toMatchObject({ ok: false, code: 'DAG_NOT_FOUND' });
    box.tryDeploy(job({ schedule: everyOther }));
    expect(numbers(box)).toEqual(['3 default definition']);
  });

  test.each([
    ['edit', (box: Scenario) => box.editSchedule('none', minutely)],
    ['delete', (box: Scenario) => box.deleteSchedule('none')],
    ['pause', (box: Scenario) => box.pause(true, 'none')],
  ])('%s of one that is not there is refused', (_, ask) => {
    expect(ask(withDefault())).toEqual({ ok: false, code: 'SCHEDULE_NOT_FOUND', detail: 'none' });
  });
});

import { describe, expect, test } from 'vitest';
import { type Instant, LAST_RUN_AT, type RunUid } from '../../model/ids.ts';
import { START } from '../../testing/node.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, every, job } from '../../testing/specs.ts';

const MINUTE = 60_000;
const MINUTES_10 = (START + 10 * MINUTE) as Instant;

function delay(box: Scenario, more: { at?: Instant; until?: string; key?: string; params?: string } = {}): RunUid {
  const { at = MINUTES_10, until, key = 'k', params = null } = more;
  const command = box.submission({
    items: [{ params, priority: 'high', at, ...(until === undefined ? {} : { until }) }],
    key: { key, bodyHash: 'b' },
  });
  expect(box.feed(command)).toMatchObject({ ok: true, kind: 'submitted', uid: command.uid });
  return command.uid;
}

const created = (box: Scenario) => box.changes('RunCreated').map(({ uid, at, dueAt }) => ({ uid, at, dueAt }));
const waiting = (box: Scenario) =>
  box.node.store.schedules.filter(({ dagId }) => dagId === box.dagId).map(({ name }) => name);
const boxOf = (dag = job()) => scenario({ dag, runs: 0 });

describe('a delayed run', () => {
  test('begins at its time, to the millisecond, with what was asked for (I4)', () => {
    const box = boxOf();
    const at = (START + 12_345) as Instant;
    const uid = delay(box, { at, params: '{"order":1}' });
    box.node.advance(12_344);
    expect(created(box)).toEqual([]);
    box.node.advance(1);
    expect(created(box)).toEqual([{ uid, at, dueAt: at }]);
    const { firesAt, cause, priority, actor, params } = box.changes('RunCreated')[0]!;
    expect({ firesAt, cause, priority, actor, params }).toEqual({
      ...{ firesAt: null, cause: 'api', priority: 'high', actor: box.actor, params: '{"order":1}' },
    });
    expect(waiting(box)).toEqual([]);
    expect(box.node.store.windows).toEqual([]);
  });

  test('is created once, also over failovers in every step (I1, I10)', () => {
    const box = boxOf();
    const uid = delay(box);
    for (let minute = 0; minute < 12; minute++) box.killOwner().advance('1m');
    expect(created(box).map((run) => run.uid)).toEqual([uid]);
  });

  test.each([
    ['nobody served it when it was due', (box: Scenario) => box.killOwner('60m')],
    ['the clock leapt over it', (box: Scenario) => box.leap('60m')],
    ['the clock went back and came again', (box: Scenario) => box.advance('9m').leap('-5m').advance('6m')],
    ['the clock went back after it', (box: Scenario) => box.advance('10m').leap('-9m').advance('20m')],
    ['all schedules of the dag are paused', (box: Scenario) => box.pause(true) && box.advance('10m')],
    ['the dag has a new version', (box: Scenario) => box.deploy(chain('a', 'b')) && box.advance('10m')],
  ] as const)('runs once although %s', (_, happens) => {
    const box = boxOf();
    box.createSchedules({ other: every('0 0 1 1 *') });
    const uid = delay(box);
    happens(box);
    expect(created(box).map((run) => run.uid)).toEqual([uid]);
    expect(created(box)[0]!.at).toBeGreaterThanOrEqual(MINUTES_10);
    expect(waiting(box)).toEqual(['other']);
  });

  test('takes the version that is current when it begins', () => {
    const box = boxOf();
    delay(box);
    box.deploy(chain('a', 'b'));
    box.advance('10m');
    expect(box.changes('RunCreated')[0]!.versionNo).toBe(2);
  });

  test('is created although the clock went back behind other runs of its dag (I10)', () => {
    const box = boxOf();
    box.advance('60m');
    box.submit();
    box.leap('-50m');
    const uid = delay(box, { at: (START + 15 * MINUTE) as Instant });
    box.advance('6m');
    expect(created(box).at(-1)?.uid).toBe(uid);
  });

  test('is cancelled before its time, and never begins (I42)', () => {
    const box = boxOf();
    const uid = delay(box);
    expect(box.deleteSchedule(uid)).toEqual({ ok: true, kind: 'done' });
    box.killOwner().advance('20m');
    expect(created(box)).toEqual([]);
    expect(box.deleteSchedule(uid)).toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
  });

  test('waits while it is paused, and begins when it is resumed', () => {
    const box = boxOf();
    const uid = delay(box);
    box.pause(true, uid);
    box.killOwner().advance('20m');
    expect(created(box)).toEqual([]);
    box.pause(false, uid);
    box.killOwner().advance('1s');
    expect(created(box).map((run) => run.uid)).toEqual([uid]);
  });

  test('waits for its dag to be brought back, and is recorded as skipped if it is not', () => {
    const box = boxOf();
    const [first, second] = [delay(box), delay(box, { at: (MINUTES_10 + MINUTE) as Instant, key: 'other' })];
    expect(box.retire()).toMatchObject({ ok: true });
    expect(waiting(box)).toEqual([first, second]);
    box.killOwner().advance('10m');
    expect(box.node.store.windows.map(({ name, skipped }) => [name, skipped])).toEqual([[first, 'deleted']]);
    box.deploy(job());
    box.advance('1m');
    expect(created(box).map((run) => run.uid)).toEqual([second]);
    expect(waiting(box)).toEqual([]);
  });

  test('can be cancelled while its dag is deleted', () => {
    const box = boxOf();
    const uid = delay(box);
    box.retire();
    expect(box.deleteSchedule(uid)).toMatchObject({ ok: true });
    expect(waiting(box)).toEqual([]);
  });

  test('is skipped if a new version has no task for its until', () => {
    const box = boxOf(chain('a', 'b'));
    const uid = delay(box, { until: 'a' });
    box.deploy(job());
    box.advance('10m');
    expect(created(box)).toEqual([]);
    expect(box.node.store.windows.map(({ name, skipped }) => [name, skipped])).toEqual([[uid, 'deleted']]);
  });

  test('waits for room like any run', () => {
    const box = boxOf(job({ maxActiveRuns: 1 }));
    box.submit();
    delay(box);
    box.advance('10m');
    expect(box.run()).toMatchObject({ admitted: false });
  });

  test('is no schedule of its dag: it cannot be edited, and its name is no window', () => {
    const box = boxOf();
    const uid = delay(box);
    expect(box.editSchedule(uid, every('* * * * *'))).toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
    box.advance('5m');
    expect(box.submit({ window: { schedule: uid, at: START } })).toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
  });

  test('a fault of the engine pauses it and says so; resumed it begins (I57)', () => {
    const box = boxOf();
    const uid = delay(box);
    const { id: scheduleId } = box.state.schedules.named(box.dagId, uid)!;
    box.feed({ kind: 'StrikeSchedule', shard: box.shard, scheduleId, reason: 'It threw.' });
    box.killOwner().advance('20m');
    expect(created(box)).toEqual([]);
    box.pause(false, uid);
    box.advance('1s');
    expect(created(box).map((run) => run.uid)).toEqual([uid]);
  });
});

describe('asked for again', () => {
  test('with its key it is the same, before and after it began (I11)', () => {
    const box = boxOf();
    const uid = delay(box);
    const again = () =>
      box.feed(
        box.submission({
          items: [{ params: null, priority: 'high', at: MINUTES_10 }],
          key: { key: 'k', bodyHash: 'b' },
          mayRepeat: true,
        }),
      );
    expect(again()).toMatchObject({ uid, repeated: true });
    box.killOwner().advance('11m').killOwner();
    expect(again()).toMatchObject({ uid, repeated: true });
    expect(created(box)).toHaveLength(1);
  });

  test('a time that has just passed begins at once; an older one is refused and changes nothing', () => {
    const box = boxOf();
    box.advance('10m');
    const uid = delay(box, { at: (MINUTES_10 - 5_000) as Instant });
    expect(created(box).map((run) => run.uid)).toEqual([uid]);
    const late = { params: null, priority: null, at: (MINUTES_10 - 61_000) as Instant };
    const items = [{ params: null, priority: null }, late];
    expect(box.submit({ items })).toMatchObject({ ok: false, code: 'RUN_TIME_INVALID' });
    expect(created(box)).toHaveLength(1);
  });

  test('the last time that a run id can hold is taken, and one after it is refused (I68)', () => {
    const box = boxOf();
    delay(box, { at: LAST_RUN_AT as Instant });
    const [key] = box.changes('KeyStored');
    expect(Number.isSafeInteger(key?.runId)).toBe(true);
    const item = { params: null, priority: null, at: (LAST_RUN_AT + 1_000) as Instant };
    const later = { items: [item], key: { key: 'other', bodyHash: 'b' } };
    expect(box.submit(later)).toMatchObject({ ok: false, code: 'RUN_TIME_INVALID' });
  });

  test.each(['in memory', 'only stored'])(
    'an id that a schedule of the dag has as its name, %s, is refused',
    (where) => {
      const box = boxOf();
      const uid = '8c1f0f2e-6d0b-4b8e-9a53-0d7c6b2f4a11' as RunUid;
      box.createSchedules({ [uid]: every('0 0 1 1 *') });
      if (where === 'only stored') box.killOwner().advance('1m');
      const command = { uid, items: [{ params: null, priority: null, at: MINUTES_10 }] };
      const key = { key: `run ${uid}`, bodyHash: 'b' };
      expect(box.feed(box.submission({ ...command, key }))).toMatchObject({ ok: false, code: 'IDEMPOTENCY_CONFLICT' });
      expect(waiting(box)).toEqual([uid]);
      // A run of now is no schedule.
      expect(box.feed(box.submission({ uid, key }))).toMatchObject({ ok: true, uid });
    },
  );

  test('a batch may have runs of now and of later', () => {
    const box = boxOf();
    const command = box.submission({
      items: [MINUTES_10, undefined, MINUTES_10].map((at) => ({ params: null, priority: null, ...(at && { at }) })),
      key: { key: 'k', bodyHash: 'b' },
    });
    expect(box.feed(command)).toMatchObject({ count: 3 });
    expect(created(box)).toHaveLength(1);
    box.killOwner().advance('10m');
    expect(new Set(created(box).map(({ uid }) => uid)).size).toBe(3);
  });
});

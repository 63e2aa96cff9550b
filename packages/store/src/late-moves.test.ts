import {
  type Change,
  type DagDeployed,
  type Instant,
  type RunId,
  type ScheduleNo,
  type ShardNo,
  uidOfWindow,
} from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { created, deployed, START } from './conformance/changes.ts';
import { seeded } from './conformance/seeded.ts';
import type { TestNode } from './conformance/test-node.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';
import { LATE_MOVES } from './late-moves.ts';

const SHARD = 7;
const EVERY_MS = 60_000;
const EAGER = { ...LATE_MOVES, fromWindows: 1 };

const fixtures = new Fixtures({ now: () => START, lateMoves: EAGER });
afterAll(() => fixtures.stop());

const at = (no: number) => (START + no * EVERY_MS) as Instant;
const set = (dag: DagDeployed, no: number, revision = 1, decided = 0, fired = 0): Change => ({
  kind: 'ScheduleSet',
  shard: SHARD as ShardNo,
  dagId: dag.dagId,
  scheduleNo: no as ScheduleNo,
  name: `s${no}`,
  origin: 'api',
  revision,
  spec: { everyMs: EVERY_MS, zone: 'UTC', gap: 'skip', missed: 'skip', missedLimit: 1 },
  paused: false,
  decidedUntil: at(decided),
  fault: null,
  fired,
  dueAt: START,
  actor: dag.actor,
  at: START,
});

const decided = (dag: DagDeployed, no: number, window: number, runId: RunId | null): Change => ({
  kind: 'WindowDecided',
  shard: SHARD as ShardNo,
  dagId: dag.dagId,
  firesAt: at(window),
  wallTime: null,
  runId,
  skipped: runId === null ? 'overlap' : null,
  count: 1,
  untilAt: at(window),
  at: START,
  scheduleNo: no as ScheduleNo,
  name: `s${no}`,
});

/** A window that becomes a run. */
function fires(node: TestNode, dag: DagDeployed, no: number, window: number): Change[] {
  const scheduleNo = no as ScheduleNo;
  const uid = uidOfWindow(SHARD as ShardNo, { dagId: dag.dagId, scheduleNo }, at(window));
  const run = created(dag, node.newRunId(SHARD), { cause: 'schedule', firesAt: at(window), scheduleNo, uid });
  return [run, decided(dag, no, window, run.runId)];
}

const parked = (dag: DagDeployed, no: number, window: number): Change => ({
  kind: 'ScheduleParked',
  shard: SHARD as ShardNo,
  dagId: dag.dagId,
  scheduleNo: no as ScheduleNo,
  dueAt: at(window + 1),
  decidedUntil: at(window),
  at: START,
});

/** As the rows say: number, last window decided, how many have fired. */
async function rowsOf(fixture: Fixture): Promise<number[][]> {
  const rows = await fixture.sql('select schedule_no, decided_until, fired from dag_schedule order by schedule_no');
  return rows.map((row) => [
    Number(row['schedule_no']),
    (Number(row['decided_until']) - START) / EVERY_MS,
    Number(row['fired']),
  ]);
}

async function isBehind(fixture: Fixture): Promise<boolean> {
  const [row] = await fixture.sql(`select behind_from from shard where shard = ${SHARD}`);
  return row?.['behind_from'] !== null;
}

async function begin(schedules: number, options: Parameters<typeof fixtures.open>[0] = {}) {
  const fixture = await fixtures.open(options);
  const node = await fixture.node([SHARD]);
  const dag = deployed(SHARD, 1);
  await node.commit([dag, ...Array.from({ length: schedules }, (_, no) => set(dag, no + 1))]);
  return { fixture, node, dag };
}

test('a burst leaves rows of schedules behind, and the next takeover brings them up to date, by any version (I1, I63)', async () => {
  const { fixture, node, dag } = await begin(2);
  await node.commit([...fires(node, dag, 1, 1), ...fires(node, dag, 2, 1)]);
  await node.commit([...fires(node, dag, 1, 2), ...fires(node, dag, 1, 3)]);
  expect(await rowsOf(fixture)).toEqual([
    [1, 0, 0],
    [2, 0, 0],
  ]);
  expect(await isBehind(fixture)).toBe(true);
  // What each version does to take a shard, and nothing else.
  await fixture.sql(`update shard set epoch = epoch + 1 where shard = ${SHARD}`);
  expect(await rowsOf(fixture)).toEqual([
    [1, 3, 3],
    [2, 1, 1],
  ]);
  expect(await isBehind(fixture)).toBe(false);
});

test('the due time after a burst brings the row up to date', async () => {
  const { fixture, node, dag } = await begin(2);
  await node.commit([...fires(node, dag, 1, 1), ...fires(node, dag, 2, 1)]);
  await node.commit([parked(dag, 1, 1)]);
  expect(await rowsOf(fixture)).toEqual([
    [1, 1, 1],
    [2, 0, 0],
  ]);
  expect(await isBehind(fixture)).toBe(true);
  await node.commit([parked(dag, 2, 1)]);
  expect(await rowsOf(fixture)).toEqual([
    [1, 1, 1],
    [2, 1, 1],
  ]);
  expect(await isBehind(fixture)).toBe(false);
});

test('a commit without windows and due times brings some up to date', async () => {
  const { fixture, node, dag } = await begin(3, { lateMoves: { ...EAGER, perCommit: 2 } });
  await node.commit([1, 2, 3].flatMap((no) => fires(node, dag, no, 1)));
  await node.commit([created(dag, node.newRunId(SHARD))]);
  expect((await rowsOf(fixture)).map(([, , fired]) => fired)).toEqual([1, 1, 0]);
  await node.commit([created(dag, node.newRunId(SHARD))]);
  expect((await rowsOf(fixture)).map(([, , fired]) => fired)).toEqual([1, 1, 1]);
  expect(await isBehind(fixture)).toBe(false);
});

test('a window that was skipped is in the row at once, with all before it: no run would show it (I2)', async () => {
  const { fixture, node, dag } = await begin(2);
  await node.commit([...fires(node, dag, 1, 1), ...fires(node, dag, 2, 1)]);
  await node.commit([decided(dag, 1, 2, null), ...fires(node, dag, 2, 2)]);
  expect(await rowsOf(fixture)).toEqual([
    [1, 2, 1],
    [2, 0, 0],
  ]);
});

test('an edit counts windows that were left out once', async () => {
  const { fixture, node, dag } = await begin(1);
  await node.commit(fires(node, dag, 1, 1));
  await node.commit([set(dag, 1, 2, 1, 1)]);
  expect(await rowsOf(fixture)).toEqual([[1, 1, 1]]);
  await node.takeOver([SHARD]);
  expect(await rowsOf(fixture)).toEqual([[1, 1, 1]]);
});

test('a shard that is taken again on the same chain counts no window twice', async () => {
  const { fixture, node, dag } = await begin(1);
  await node.commit(fires(node, dag, 1, 1));
  const { chain } = node;
  await node.take([SHARD]);
  const { shards } = await node.load([SHARD]);
  node.stamps.set(SHARD as ShardNo, shards[0]!);
  await chain.commit(node.batch(fires(node, dag, 1, 2)));
  await chain.commit(node.batch([parked(dag, 1, 2)]));
  expect(await rowsOf(fixture)).toEqual([[1, 2, 2]]);
});

test.each([
  ['as many as may be', { most: 1 }, [0, 1]],
  ['one for too long', { longestMs: -1 }, [1, 1]],
])('a burst leaves nothing more behind with %s', async (_, limits, expected) => {
  const { fixture, node, dag } = await begin(2, { lateMoves: { ...EAGER, ...limits } });
  await node.commit(fires(node, dag, 1, 1));
  await node.commit(fires(node, dag, 2, 1));
  expect((await rowsOf(fixture)).map(([, , fired]) => fired)).toEqual(expected);
});

test('few windows in a commit are in the rows at once', async () => {
  const { fixture, node, dag } = await begin(1, { lateMoves: LATE_MOVES });
  await node.commit(fires(node, dag, 1, 1));
  expect(await rowsOf(fixture)).toEqual([[1, 1, 1]]);
});

test('any row of bursts, due times, edits and takeovers ends with what was decided (I1)', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = seeded(seed);
    const { fixture, node, dag } = await begin(4, { lateMoves: { ...EAGER, perCommit: 1, most: 3 } });
    const expected = [1, 2, 3, 4].map((no) => ({ no, until: 0, fired: 0, revision: 1 }));
    for (let step = 0; step < 25; step++) {
      const changes: Change[] = [];
      for (const one of expected) {
        const draw = Math.floor(random() * 8);
        if (draw < 3) {
          changes.push(...fires(node, dag, one.no, ++one.until));
          one.fired += 1;
        } else if (draw === 3) changes.push(decided(dag, one.no, ++one.until, null));
        else if (draw === 4) changes.push(parked(dag, one.no, one.until));
        else if (draw === 5) changes.push(set(dag, one.no, ++one.revision, one.until, one.fired));
      }
      if (changes.length > 0) await node.commit(changes);
      if (Math.floor(random() * 4) === 0) {
        await node.takeOver([SHARD]);
        expect(await rowsOf(fixture), `seed ${seed}, step ${step}`).toEqual(
          expected.map(({ no, until, fired }) => [no, until, fired]),
        );
      }
    }
  }
});

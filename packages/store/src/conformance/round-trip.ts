/** What was committed is what is loaded, for any sequence of valid changes and any division into batches (I10, I19, I58). */
import {
  type AnyRow,
  type AnyTable,
  type AttemptNo,
  type DagId,
  type DueCursor,
  FETCHED_TABLES,
  type Instant,
  keyTextOf,
  LOADED_TABLES,
  type Need,
  RESIDENT,
  type RowNeed,
  type ScheduleNo,
  type ShardNo,
  type StoredRun,
  type StoredSchedule,
  shardOfRun,
} from '@signalbox/engine';
import { expect } from 'vitest';
import type { PayloadKey, Store } from '../port.ts';
import { START } from './changes.ts';
import { Generator } from './generate/generator.ts';
import type { Model } from './model.ts';
import type { Check } from './subject.ts';
import { TestNode } from './test-node.ts';

const SEEDS = [1, 2, 3, 4, 5, 6];
const BATCH_SIZES = [1, 7, 40, 3, 120, 1, 1, 25, 300, 10];
const SHARDS = [5, 6] as ShardNo[];

/** No task has more speculative attempts than this beside one other. */
const MOST_BESIDE = 20;

/** Tables may be cut by time: lives are drawn that lie within a day, and such that go on over days. */
const SPANS = [
  ['on a day long ago', START, 0],
  ['over the days to come', Date.now() as Instant, 11 * 3_600_000],
] as const;

export const roundTripChecks: readonly Check[] = SEEDS.map((seed) => ({ seed, span: SPANS[seed % 2] ?? SPANS[0] })).map(
  ({ seed, span: [when, start, leapMs] }) => ({
    name: `a row of changes drawn from seed ${seed}, ${when}, comes back as it was committed`,
    run: async (subject) => {
      const node = await TestNode.start(subject, SHARDS);
      const newRunId = (shard: ShardNo) => node.newRunId(shard);
      const generator = new Generator({ seed, shards: SHARDS, start, newRunId });
      const reader = await subject.open();
      for (const size of BATCH_SIZES) {
        generator.leap(leapMs);
        node.now = generator.now;
        await node.commit(generator.batch(size));
        await compareLoads(reader, node, generator.model);
      }
      await compareFetches(reader, generator.model);
      await comparePayloads(reader, generator.model);
    },
  }),
);

const byId = (runs: readonly StoredRun[]): StoredRun[] => [...runs].sort((a, b) => a.runId - b.runId);

async function compareLoads(reader: Store, node: TestNode, model: Model): Promise<void> {
  const heads = await reader.loadHeads(SHARDS, 1_000);
  expect(byId(heads.runs)).toEqual(model.live());
  expect(heads.partial).toEqual([]);
  const byNumber = (a: StoredSchedule, b: StoredSchedule) => a.dagId - b.dagId || a.scheduleNo - b.scheduleNo;
  expect([...heads.schedules].sort(byNumber)).toEqual(
    [...model.schedules.values()].filter(({ dueAt }) => dueAt === RESIDENT).sort(byNumber),
  );
  const expected = model.loaded(SHARDS);
  for (const [name, table] of LOADED_TABLES)
    expect(byRowKey(table, heads.tables[name])).toEqual(byRowKey(table, expected[name]));
  const counts = new Map<DagId, number>();
  for (const { dagId, admitted } of model.live()) if (admitted) counts.set(dagId, (counts.get(dagId) ?? 0) + 1);
  const loaded = heads.admitted.filter(({ admitted }) => admitted > 0);
  expect(new Map(loaded.map(({ dagId, admitted }) => [dagId, admitted]))).toEqual(counts);
  for (const shard of heads.shards) {
    const { silentWorkers, missedAgoMs: _missedAgoMs, ...stamp } = shard;
    expect(stamp).toEqual(node.stamp(shard.shard));
    expect(silentWorkers.map(({ workerId }) => workerId).sort()).toEqual([...model.silentOf(shard.shard)].sort());
  }
  // Whatever was loaded can be used: its dag and its versions are there too.
  const needed = new Set([...heads.runs, ...heads.schedules, ...heads.tables.heldEvents].map(({ dagId }) => dagId));
  for (const dagId of needed) expect(heads.dags).toContainEqual(model.dags.get(dagId));
  for (const dag of heads.dags) expect(dag).toEqual(model.dags.get(dag.dagId));
  for (const version of heads.versions) expect(model.versions).toContainEqual(version);
  const uses = [...heads.runs, ...heads.dags].map(({ dagId, versionNo }) => `${dagId}/${versionNo}`);
  const versions = heads.versions.map(({ dagId, versionNo }) => `${dagId}/${versionNo}`);
  expect(versions).toEqual(expect.arrayContaining([...new Set(uses)]));
  const claimed = new Set([...model.runs.values()].filter((run) => run.claimed).map(({ runId }) => runId));
  const rest = await reader.loadRest(SHARDS, null, 1_000);
  expect(byId(rest.runs)).toEqual(model.live().filter(({ runId }) => !claimed.has(runId)));
}

async function compareFetches(reader: Store, model: Model): Promise<void> {
  const runs = model.allRuns();
  const byNumber = await reader.fetch(runs.map(({ runId }) => ({ kind: 'run', runId })));
  expect(byId(byNumber.runs)).toEqual(runs);
  const byUid = await reader.fetch(runs.map(({ runId, uid }) => ({ kind: 'run_uid', shard: shardOfRun(runId), uid })));
  expect(byId(byUid.runs)).toEqual(runs);
  const dags = [...model.dags.values()];
  const dagNeeds = dags.flatMap(({ shard, dagId, tenantId, name }, no): Need[] =>
    no % 2 === 0
      ? [{ kind: 'dag', shard, dagId }]
      : [{ kind: 'dag_name', shard, tenantId, name, schedules: namesOf(model, dagId) }],
  );
  for (const { shard, dagId, tenantId, name, versionNo } of dags) {
    const version = model.versions.find((one) => one.dagId === dagId && one.versionNo === versionNo);
    const paramsSchema = version?.spec.paramsSchema ?? null;
    expect(await reader.findDag(tenantId, name)).toEqual({ shard, dagId, versionNo, paramsSchema });
    expect(await reader.findDag((tenantId + 1) as typeof tenantId, name)).toBeNull();
  }
  const seen = await reader.fetch(dagNeeds);
  expect([...seen.dags].sort((a, b) => a.dagId - b.dagId)).toEqual(dags.sort((a, b) => a.dagId - b.dagId));
  for (const { dagId, versionNo } of dags)
    expect(seen.versions).toContainEqual(
      model.versions.find((one) => one.dagId === dagId && one.versionNo === versionNo),
    );
  await compareSchedules(reader, model);
  const versionNeeds = model.versions.map(({ dagId, versionNo }): Need => {
    return { kind: 'version', shard: (dagId % 64) as ShardNo, dagId, versionNo };
  });
  const { versions } = await reader.fetch(versionNeeds);
  expect(versions).toHaveLength(model.versions.length);
  for (const version of model.versions) expect(versions).toContainEqual(version);
  const deadLetters = [...model.deadLetters.values()];
  const seenDeadLetters = await reader.fetch(
    deadLetters.map(({ runId, taskNo, attemptNo }) => ({ kind: 'deadLetter', runId, taskNo, attemptNo })),
  );
  expect(new Set(seenDeadLetters.deadLetters)).toEqual(new Set(deadLetters));
  const windowNeeds = runs.flatMap(({ runId, dagId, window, scheduleNo = 1 as ScheduleNo }): Need[] => {
    const shard = shardOfRun(runId);
    return window === undefined
      ? []
      : [{ kind: 'windows', shard, dagId, schedule: scheduleNo, at: [window.at, (window.at + 1) as Instant] }];
  });
  const pastNeeds = runs.flatMap(({ runId, dagId, window, scheduleNo = 1 as ScheduleNo }): Need[] => {
    const shard = shardOfRun(runId);
    if (window === undefined) return [];
    return [0, 1].map((more) => ({ kind: 'past', shard, dagId, scheduleNo, before: (window.at + more) as Instant }));
  });
  const names = new Map(dags.map(({ dagId, name }) => [dagId, name]));
  const requirementNeeds = runs.flatMap(({ runId, dagId, tenantId, window, createdAt }): Need[] => {
    const what = { kind: 'requirement', shard: shardOfRun(runId), tenantId, dag: names.get(dagId) ?? 'none' } as const;
    const since = { ...what, since: createdAt, window: null };
    return window === undefined ? [since] : [since, { ...what, since: null, window: window.at }];
  });
  const asked = [...windowNeeds, ...pastNeeds, ...requirementNeeds];
  const [found, expected] = [await reader.fetch(asked), model.fetch(asked)];
  expect(new Set(found.windows)).toEqual(new Set(expected.windows));
  expect(new Set(found.pasts)).toEqual(new Set(expected.pasts));
  expect(new Set(found.requirements)).toEqual(new Set(expected.requirements));
  expect(new Set(found.runs.map(({ runId }) => runId))).toEqual(new Set(expected.runs.map(({ runId }) => runId)));
  await compareRows(reader, model);
}

const namesOf = (model: Model, dagId: DagId): string[] =>
  [...model.schedules.values()].filter((schedule) => schedule.dagId === dagId).map(({ name }) => name);

/** All schedules in each way in which they are found; walks with so few that they stop and go on. */
async function compareSchedules(reader: Store, model: Model): Promise<void> {
  const all = [...model.schedules.values()];
  const needs = [...model.dags.values()].map(({ shard, dagId }) => ({ kind: 'schedules', shard, dagId }) as const);
  const wanted: Need[][] = [
    needs.map((need) => ({ ...need, first: 1 })),
    needs.map((need) => ({ ...need, first: 1_000 })),
    needs.map((need) => ({ ...need, ofDefinition: true })),
    needs.map((need) => ({ ...need, names: [...namesOf(model, need.dagId), 'none'] })),
    all.map(({ shard, dagId, scheduleNo }) => ({ kind: 'schedules', shard, dagId, numbers: [scheduleNo] })),
  ];
  for (const list of wanted) {
    const [found, expected] = [await reader.fetch(list), model.fetch(list)];
    expect(new Set(found.schedules)).toEqual(new Set(expected.schedules));
  }
  const [start, until] = [{ dueAt: 0, dagId: 0, scheduleNo: 0 } as DueCursor, 1e15 as Instant];
  for (const limit of [1, 3, 1_000]) {
    const due: Need = { kind: 'due', ranges: SHARDS.map((shard) => ({ shard, after: start, until })), limit };
    const [found, expected] = [await reader.fetch([due]), model.fetch([due])];
    expect([found.due, found.schedules]).toEqual([expected.due, expected.schedules]);
    for (const shard of SHARDS) {
      const zoned: Need = { kind: 'zoned', shard, after: start, limit };
      expect((await reader.fetch([zoned])).zoned).toEqual(model.fetch([zoned]).zoned);
    }
  }
}

/** Each row of the tables that are fetched, by its key. */
async function compareRows(reader: Store, model: Model): Promise<void> {
  for (const [name, table] of FETCHED_TABLES) {
    const needs = model.rows(name).map((row) => ({ kind: 'row', table: name, key: row }) as RowNeed);
    expect(needs.length).toBeGreaterThan(0);
    const [found, expected] = [await reader.fetch(needs), model.fetch(needs)];
    expect(byRowKey(table, found.tables[name])).toEqual(byRowKey(table, expected.tables[name]));
  }
}

function byRowKey(table: AnyTable, rows: readonly AnyRow[] = []): AnyRow[] {
  return [...rows].sort((a, b) => (keyTextOf(table, a) < keyTextOf(table, b) ? -1 : 1));
}

async function comparePayloads(reader: Store, model: Model): Promise<void> {
  const ofRun = ({ runId, tasks }: StoredRun): PayloadKey[] => [
    ...[null, ...tasks.map(({ taskNo }) => taskNo)].map((taskNo) => ({ runId, taskNo })),
    ...tasks.flatMap(({ taskNo, attemptNo }) =>
      // And more: attempts beside the newest may have ended.
      Array.from({ length: attemptNo + MOST_BESIDE }, (_, i) => ({ runId, taskNo, errorOf: (i + 1) as AttemptNo })),
    ),
    ...tasks.flatMap(({ taskNo, checkpoint }) => (checkpoint === null ? [] : [{ runId, taskNo, checkpoint }])),
  ];
  const found = await reader.fetchPayloads(model.allRuns().flatMap(ofRun));
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(model.payloads));
}

/** What was committed is what is loaded, for any sequence of valid changes and any division into batches (I10, I19, I58). */
import type {
  AttemptNo,
  DagId,
  Instant,
  Need,
  ScheduleNo,
  ShardNo,
  StoredBreaker,
  StoredRun,
  StoredSchedule,
} from '@signalbox/engine';
import { shardOfRun } from '@signalbox/engine';
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
  expect(heads.complete).toBe(true);
  const byNumber = (a: StoredSchedule, b: StoredSchedule) => a.dagId - b.dagId || a.scheduleNo - b.scheduleNo;
  expect([...heads.schedules].sort(byNumber)).toEqual([...model.schedules.values()].sort(byNumber));
  const byKey = (a: StoredBreaker, b: StoredBreaker) =>
    a.dagId - b.dagId || (a.fingerprint ?? 0) - (b.fingerprint ?? 0);
  expect([...heads.breakers].sort(byKey)).toEqual([...model.breakers.values()].sort(byKey));
  const byUid = (a: { readonly uid: string }, b: { readonly uid: string }) => (a.uid < b.uid ? -1 : 1);
  expect([...heads.held].sort(byUid)).toEqual([...model.held.values()].sort(byUid));
  expect([...heads.backfills].sort(byUid)).toEqual([...model.liveBackfills(SHARDS)].sort(byUid));
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
  const needed = new Set([...heads.runs, ...heads.schedules, ...heads.held].map(({ dagId }) => dagId));
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
    no % 2 === 0 ? [{ kind: 'dag', shard, dagId }] : [{ kind: 'dag_name', shard, tenantId, name }],
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
  expect(new Set(seen.schedules)).toEqual(new Set(model.schedules.values()));
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
      : [{ kind: 'windows', shard, dagId, scheduleNo, at: [window.at, (window.at + 1) as Instant] }];
  });
  const backfillNeeds = model.backfills.map(({ shard, uid }): Need => ({ kind: 'backfill', shard, uid }));
  const asked = [...windowNeeds, ...backfillNeeds];
  const [found, expected] = [await reader.fetch(asked), model.fetch(asked)];
  expect(new Set(found.windows)).toEqual(new Set(expected.windows));
  expect(new Set(found.backfills)).toEqual(new Set(expected.backfills));
  const keyNeeds = model.keys.map(
    ({ bodyHash: _body, runId: _run, uid: _uid, ...key }): Need => ({ kind: 'key', ...key }),
  );
  const { keys } = await reader.fetch(keyNeeds);
  expect(new Set(keys)).toEqual(new Set(model.keys));
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

/** What a load returns: first all runs with a claim and the heads of each priority, then the rest in pages (D4, D5). */
import type {
  AddedTask,
  Change,
  DagId,
  Fence,
  Priority,
  RunCreated,
  RunId,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
} from '@signalbox/engine';
import { PRIORITIES, shardOfRun } from '@signalbox/engine';
import { expect } from 'vitest';
import { payloadName, type RestCursor, type Store } from '../port.ts';
import { claimed, created, deployed, keyOf, newUid, newWorkerId, succeeded } from './changes.ts';
import { eventually } from './eventually.ts';
import type { Check } from './subject.ts';
import { TestNode } from './test-node.ts';

const byRest = (a: RunCreated, b: RunCreated): number =>
  shardOfRun(a.runId) - shardOfRun(b.runId) || rank(a.priority) - rank(b.priority) || a.runId - b.runId;
const rank = (priority: Priority): number => PRIORITIES.indexOf(priority);
const ids = (runs: readonly { readonly runId: RunId }[]): RunId[] => runs.map(({ runId }) => runId);
const sorted = (numbers: readonly RunId[]): RunId[] => [...numbers].sort((a, b) => a - b);

/** Pages until the end; more pages than runs would be a cursor that stands still. */
async function restOf(store: Store, shards: readonly ShardNo[], limit: number): Promise<RunId[]> {
  const found: RunId[] = [];
  let after: RestCursor | null = null;
  for (let page = 0; page < 100; page++) {
    const { runs, dags, versions, next } = await store.loadRest(shards, after, limit);
    expect(runs.length).toBeLessThanOrEqual(limit);
    for (const run of runs) {
      expect(dags.map(({ dagId }) => dagId)).toContain(run.dagId);
      expect(versions).toContainEqual(expect.objectContaining({ dagId: run.dagId, versionNo: run.versionNo }));
    }
    found.push(...ids(runs));
    if (next === null) return found;
    after = next;
  }
  throw new Error('the rest has no end');
}

export const loadChecks: readonly Check[] = [
  {
    name: 'heads: each run with a claim, the first of each priority and shard without one, and a count of all',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6, 7]);
      const worker = newWorkerId();
      const waiting: RunCreated[] = [];
      const held: RunCreated[] = [];
      for (const shard of [5, 6, 7]) {
        const dag = deployed(shard, 1);
        const changes: Change[] = [dag];
        for (const [no, priority] of [...PRIORITIES, ...PRIORITIES, ...PRIORITIES].entries()) {
          const run = created(dag, node.newRunId(shard), { priority, admitted: no % 2 === 0 });
          changes.push(run);
          waiting.push(run);
        }
        // One run with a claim is behind all others of its priority.
        const run = created(dag, node.newRunId(shard), { priority: 'low' });
        changes.push(run, claimed(run, worker));
        held.push(run);
        await node.commit(changes);
      }
      const shards = [5, 6] as ShardNo[];
      const inScope = (run: RunCreated) => shards.includes(shardOfRun(run.runId));
      const heads = await node.store.loadHeads(shards, 2);
      const firstTwo = waiting.filter((run) => {
        const before = waiting.filter(
          (o) => shardOfRun(o.runId) === shardOfRun(run.runId) && o.priority === run.priority,
        );
        return before.indexOf(run) < 2;
      });
      expect(sorted(ids(heads.runs))).toEqual(sorted(ids([...firstTwo, ...held].filter(inScope))));
      expect(heads.partial).toEqual([64 + 5, 64 + 6]);
      const admitted = [...heads.admitted].sort((a, b) => a.dagId - b.dagId);
      expect(admitted).toEqual([5, 6].map((shard) => ({ dagId: 64 + shard, admitted: 7 })));
      const all = ids(waiting.filter(inScope).sort(byRest));
      for (const limit of [1, 4, 24, 100]) expect(await restOf(node.store, shards, limit)).toEqual(all);
      const complete = await node.store.loadHeads(shards, 3);
      expect(complete.partial).toEqual([]);
      expect(complete.runs).toHaveLength(26);
    },
  },
  {
    name: 'a run whose map has expanded comes with it among the first, also before any claim; what was removed is told (I34)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      const [mapped, other] = [created(dag, node.newRunId(5)), created(dag, node.newRunId(5))];
      const { runId, at } = mapped;
      const expanded = { kind: 'MapExpanded', runId, group: 0, scope: null, firstNo: 3, total: 100_000, at } as const;
      await node.commit([dag, other, mapped, expanded, { kind: 'MapUnfolded', runId, firstNo: 3, until: 500, at }]);
      await node.commit([
        { kind: 'MapUnfolded', runId, firstNo: 3, until: 1_000, at },
        { kind: 'MapRemoved', runId, firstNo: 3, actor: mapped.actor, at },
        { ...expanded, scope: 3, firstNo: 100_003, total: 2 },
      ]);
      const heads = await node.store.loadHeads([5 as ShardNo], 0);
      expect(heads.runs.map((run) => [run.runId, run.maps])).toEqual([
        [
          runId,
          [
            { group: 0, scope: null, firstNo: 3, total: 100_000, unfolded: 1_000, isRemoved: true },
            { group: 0, scope: 3, firstNo: 100_003, total: 2, unfolded: 0, isRemoved: false },
          ],
        ],
      ]);
      const again = { kind: 'MapUnfolded', runId, firstNo: 3, until: 2_000, at } as const;
      expect(await node.tryCommit([again])).toBe('refused');
    },
  },
  {
    name: 'what was added to a run comes with it, each task as it was written last (I17)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      const [run, plain] = [created(dag, node.newRunId(5)), created(dag, node.newRunId(5))];
      const { runId, at } = run;
      const by = { runId, taskNo: 0 as TaskNo, fence: 1 as Fence, at };
      const task = (no: number, more: Partial<AddedTask> = {}): AddedTask => ({
        no: no as TaskNo,
        by: by.taskNo,
        fence: by.fence,
        name: `added-${no}`,
        template: 0,
        needs: [0],
        before: [2],
        inputs: '{"text":"\\u0000 it\'s \\"€\\""}',
        isDropped: false,
        ...more,
      });
      await node.commit([dag, run, plain, { kind: 'TasksAdded', ...by, tasks: [task(3), task(4)] }]);
      await node.commit([
        { kind: 'TasksAdded', ...by, tasks: [task(5), task(12)] },
        { kind: 'TasksDropped', ...by, tasks: [task(4, { isDropped: true })] },
      ]);
      const heads = await node.store.loadHeads([5 as ShardNo], 10);
      const added = [task(3), task(4, { isDropped: true }), task(5), task(12)];
      expect(heads.runs.map((found) => [found.runId, found.added])).toEqual([
        [runId, added],
        [plain.runId, undefined],
      ]);
      const seen = await node.store.fetch([{ kind: 'run', runId }]);
      expect(seen.runs[0]?.added).toEqual(added);
    },
  },
  {
    name: 'a silent worker is stored once, by the clock of the database, and cleared when it is heard (I25)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6]);
      const workers = [newWorkerId(), newWorkerId()];
      const silence = (shard: number, workerId = workers[0]): Change =>
        ({ kind: 'WorkerSilenced', shard, workerId }) as Change;
      const silentIn = async (shard: number) => (await node.load([shard])).shards[0]?.silentWorkers ?? [];
      await node.commit([silence(5), silence(5, workers[1]), silence(6)]);
      await eventually('time passes', async () => (await silentIn(5)).every(({ silentMs }) => silentMs > 20));
      const before = (await silentIn(5)).find(({ workerId }) => workerId === workers[0])?.silentMs ?? 0;
      await node.takeOver([5]);
      await node.commit([silence(5)]);
      const after = (await silentIn(5)).find(({ workerId }) => workerId === workers[0])?.silentMs ?? 0;
      expect(after).toBeGreaterThanOrEqual(before);
      await node.commit([{ kind: 'WorkerHeardAgain', shard: 5 as ShardNo, workerId: workers[0] ?? newWorkerId() }]);
      expect((await silentIn(5)).map(({ workerId }) => workerId)).toEqual([workers[1]]);
      expect((await silentIn(6)).map(({ workerId }) => workerId)).toEqual([workers[0]]);
    },
  },
  {
    name: 'a key is found within its tenant, operation and target only (I11)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      const run = created(dag, node.newRunId(5));
      const { kind: _kind, at: _at, ...key } = keyOf(run, dag.shard, "it's ä key: \\ % _ \u{1F511}");
      await node.commit([dag, run, { kind: 'KeyStored', ...key, at: run.at }]);
      const { bodyHash: _bodyHash, runId: _runId, uid: _uid, ...need } = key;
      const find = async (fields: object) =>
        (await node.store.fetch([{ kind: 'row', table: 'keys', key: { ...need, ...fields } }])).tables.keys;
      expect(await find({})).toEqual([key]);
      for (const other of [{ key: 'other' }, { operation: 'other' }, { target: 1 }, { tenantId: 2 }, { shard: 6 }])
        expect(await find(other)).toEqual([]);
    },
  },
  {
    name: 'payloads come back byte for byte, and only those that were stored (I36, I69)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      const texts = [
        '{"quote":"\'","back":"\\\\","brace":"{,}"}',
        '""',
        `"${'ä🚂'.repeat(20_000)}"`,
        '{"nul":"\\u0000"}',
      ];
      const changes: Change[] = [dag];
      const runs = texts.map((params, no) => {
        const run = created(dag, node.newRunId(5), { params });
        const claim = claimed(run, newWorkerId());
        changes.push(run, claim, succeeded(claim, texts[texts.length - 1 - no] ?? null));
        return run;
      });
      const bare = created(dag, node.newRunId(5));
      await node.commit([...changes, bare]);
      const keys = [...runs, bare].flatMap(({ runId }) =>
        [null, 0, 1].map((taskNo) => ({ runId, taskNo: taskNo as TaskNo | null })),
      );
      const found = await node.store.fetchPayloads(keys);
      const expected = new Map(
        runs.flatMap(({ runId }, no): [string, string][] => [
          [payloadName({ runId, taskNo: null }), texts[no] ?? ''],
          [payloadName({ runId, taskNo: 0 as TaskNo }), texts[texts.length - 1 - no] ?? ''],
        ]),
      );
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    },
  },
  {
    name: 'what is not there is not seen',
    run: async (subject) => {
      const store = await subject.open();
      const shard = 5 as ShardNo;
      const runId = (shard * 65_536) as RunId;
      const seen = await store.fetch([
        { kind: 'run', runId },
        { kind: 'run_uid', shard, uid: newUid(shard) },
        { kind: 'dag', shard, dagId: 69 as DagId },
        { kind: 'dag_name', shard, tenantId: 1 as TenantId, name: 'nothing', schedules: ['none'] },
        { kind: 'schedules', shard, dagId: 69 as DagId, names: ['none'], first: 10 },
        { kind: 'version', shard, dagId: 69 as DagId, versionNo: 1 as VersionNo },
      ]);
      const none = { runs: [], dags: [], versions: [], schedules: [], windows: [], deadLetters: [], tables: {} };
      const nothing = { ...none, pasts: [], requirements: [], due: [], zoned: null };
      expect(seen).toEqual(nothing);
      expect(await store.fetch([])).toEqual(nothing);
      expect([...(await store.fetchPayloads([{ runId, taskNo: null }]))]).toEqual([]);
    },
  },
];

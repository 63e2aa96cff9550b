/** No reader sees half of a commit, or what was not committed (I59). */
import type { Change, Need, RunCreated, ShardNo, VersionNo } from '@signalbox/engine';
import { SHARD_COUNT } from '@signalbox/engine';
import { expect } from 'vitest';
import { claimed, created, deployed, ended, keyOf, newWorkerId, succeeded } from './changes.ts';
import { type Check, HOLD_POINTS, isDoneAt, isLockedAt, type StoreSubject } from './subject.ts';
import { TestNode } from './test-node.ts';

const COMMIT_COUNT = 60;

export const snapshotChecks: readonly Check[] = [
  ...HOLD_POINTS.filter((point) => isLockedAt(point) || isDoneAt(point)).map((point) => ({
    name: `a commit stopped ${point} is seen ${isDoneAt(point) ? 'whole' : 'not at all'} by loads, fetches and payloads`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5]);
      const reader = await subject.open();
      const dag = deployed(5, 1);
      await node.commit([dag]);
      const run = created(dag, node.newRunId(5), { params: '{"a":1}' });
      const changes: Change[] = [run, keyOf(run, dag.shard, 'key'), claimed(run, newWorkerId()), deployed(5, 1, 2)];
      const held = await subject.hold(node.store, point);
      const ending = node.tryCommit(changes);
      await held.reached();
      const count = isDoneAt(point) ? 1 : 0;
      const heads = await reader.loadHeads([dag.shard], 100);
      expect(heads.runs.flatMap(({ tasks }) => tasks)).toHaveLength(count);
      expect(heads).toMatchObject({ shards: [{ commitNo: 1 + count }] });
      expect((await reader.loadRest([dag.shard], null, 100)).runs).toEqual([]);
      const seen = await reader.fetch(needsOf(run, 'key'));
      expect([seen.runs.length, seen.tables.keys?.length]).toEqual([count, count]);
      expect(seen.dags).toMatchObject([{ versionNo: 1 + count }]);
      const payloads = await reader.fetchPayloads([{ runId: run.runId, taskNo: null }]);
      expect([...payloads.values()]).toEqual(isDoneAt(point) ? ['{"a":1}'] : []);
      held.release();
      expect(await ending).toBe('done');
    },
  })),
  {
    name: 'each load and each fetch is of one instant, however fast commits follow one another',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const reader = await subject.open();
      const worker = newWorkerId();
      const dag = deployed(5, 1);
      let last = created(dag, node.newRunId(5));
      await node.commit([dag, last, keyOf(last, dag.shard, '0'), claimed(last, worker)]);
      let writing = true;
      // Each commit ends the one live run and creates the next, with its key, in a new version of the dag.
      const writes = (async () => {
        for (let no = 1; no <= COMMIT_COUNT; no++) {
          const run = created({ ...dag, versionNo: (no + 1) as VersionNo }, node.newRunId(5));
          const next = [deployed(5, 1, no + 1), run, keyOf(run, dag.shard, `${no}`), claimed(run, worker)];
          await node.commit([succeeded(claimed(last, worker)), ended(last), ...next]);
          last = run;
        }
      })().finally(() => {
        writing = false;
      });
      while (writing) {
        const heads = await reader.loadHeads([dag.shard], 100);
        const [shard] = heads.shards;
        expect(heads.runs).toMatchObject([
          { runId: shard?.lastRunId, versionNo: shard?.commitNo, tasks: [{ state: 'running' }] },
        ]);
        expect(heads.dags).toMatchObject([{ versionNo: shard?.commitNo }]);
        expect(heads.admitted).toEqual([{ dagId: dag.dagId, admitted: 1 }]);
        const seen = await reader.fetch(needsOf(last, `${shard?.commitNo ?? 0}`));
        expect(seen.tables.keys?.length).toBe((seen.dags[0]?.versionNo ?? 0) > (shard?.commitNo ?? 0) ? 1 : 0);
      }
      await writes;
    },
  },
];

function needsOf(run: RunCreated, key: string): Need[] {
  const { runId, tenantId, dagId } = run;
  const stored = keyOf(run, (dagId % SHARD_COUNT) as ShardNo, key);
  const { shard, operation, target } = stored;
  return [
    { kind: 'row', table: 'keys', key: { shard, tenantId, operation, target, key } },
    { kind: 'run', runId },
    { kind: 'dag', shard, dagId },
  ];
}

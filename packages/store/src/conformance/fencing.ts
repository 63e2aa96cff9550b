/** Commits of a shard are in order of epoch and number, and a chain stops at its first failure (I14). */
import type { Change, Need, RunCreated, RunId, ShardNo } from '@signalbox/engine';
import { expect } from 'vitest';
import { claimed, created, deployed, ended, keyOf, newWorkerId, START, succeeded } from './changes.ts';
import { endingOf } from './eventually.ts';
import type { Check, StoreSubject } from './subject.ts';
import { TestNode } from './test-node.ts';

/** Round trips in which a commit that must not happen would have had the time to. */
const LOOKS = 20;

/** Changes of things that a shard with one run without claims does not have. */
const strays: readonly (readonly [string, (run: RunCreated) => Change])[] = [
  ['a run', (run) => ({ kind: 'RunAdmitted', runId: (run.runId + 1) as RunId, at: run.at })],
  ['an ending run', (run) => ended({ ...run, runId: (run.runId + 1) as RunId })],
  ['a claim', (run) => succeeded(claimed(run, newWorkerId()))],
  ['a task', (run) => ({ ...claimed(run, newWorkerId()), firstOfTask: false })],
  ['a map', (run) => ({ kind: 'MapUnfolded', runId: run.runId, firstNo: 3, until: 1, at: run.at })],
];

export const fencingChecks: readonly Check[] = [
  {
    name: 'commits in flight on one chain are done, and answered in order',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      const answered: number[] = [];
      const batches = [[dag], ...Array.from({ length: 9 }, () => [created(dag, node.newRunId(5))])];
      await Promise.all(batches.map((changes, no) => node.commit(changes).then(() => answered.push(no))));
      expect(answered).toEqual(batches.map((_, no) => no));
      const heads = await node.load([5]);
      expect(heads.shards).toMatchObject([{ ...node.stamp(5), silentWorkers: [] }]);
      expect(heads.runs).toHaveLength(9);
    },
  },
  {
    name: 'a commit with an epoch of before is refused, and changes nothing (I14)',
    run: async (subject) => {
      const old = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      await old.commit([dag]);
      const next = await TestNode.start(subject, [5]);
      expect(await old.tryCommit([created(dag, old.newRunId(5))])).toBe('fenced');
      await next.commit([created(dag, next.newRunId(5))]);
      const heads = await next.load([5]);
      expect(heads.shards).toMatchObject([{ ...next.stamp(5), silentWorkers: [] }]);
      expect(heads.runs).toHaveLength(1);
    },
  },
  ...([-1, 1] as const).map((off) => ({
    name: `a commit number ${off < 0 ? 'used before' : 'with a gap before it'} is refused`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      await node.commit([dag]);
      const { shards, ...batch } = node.batch([created(dag, node.newRunId(5))]);
      const wrong = shards.map((stamp) => ({ ...stamp, commitNo: stamp.commitNo + off }));
      expect(await endingOf(node.chain.commit({ ...batch, shards: wrong }))).toBe('fenced');
      const heads = await node.load([5]);
      expect(heads).toMatchObject({ runs: [], shards: [{ commitNo: 1 }] });
    },
  })),
  {
    name: 'of a commit over several shards nothing is done when one of them is lost',
    run: async (subject) => {
      const old = await TestNode.start(subject, [5, 6]);
      await TestNode.start(subject, [6]);
      expect(await old.tryCommit([deployed(5, 1), deployed(6, 1)])).toBe('fenced');
      expect(await old.load([5, 6])).toMatchObject({ shards: [{ commitNo: 0 }, { commitNo: 0 }] });
      const seen = await old.store.fetch([5, 6].map((shard) => ({ kind: 'dag', shard, dagId: 64 + shard }) as Need));
      expect(seen.dags).toEqual([]);
    },
  },
  {
    name: 'what was sent after a failed commit fails too, even when it touches only other shards (I16)',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6]);
      await node.commit([deployed(5, 1), deployed(6, 1)]);
      await TestNode.start(subject, [5]);
      // With the answers stopped the caller knows of no failure, and the database goes on with all that was sent.
      const held = await subject.hold(node.store, 'after commit before the answer');
      const sent = Promise.all([
        node.tryCommit([deployed(6, 2)]),
        node.tryCommit([deployed(5, 2)]),
        node.tryCommit([deployed(6, 3)]),
        node.tryCommit([deployed(6, 4)]),
      ]);
      await held.reached();
      for (let look = 0; look < LOOKS; look++)
        expect(await node.load([6])).toMatchObject({ shards: [{ commitNo: 2, lastDagNo: 2 }] });
      held.release();
      const endings = await sent;
      expect(endings.slice(0, 2)).toEqual(['done', 'fenced']);
      expect(endings.slice(2)).not.toContain('done');
      expect(await node.tryCommit([deployed(6, 5)])).not.toBe('done');
      expect(await node.load([6])).toMatchObject({ shards: [{ commitNo: 2, lastDagNo: 2 }] });
    },
  },
  {
    name: 'a commit that breaks a constraint is refused whole, and so is what was sent after it',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6]);
      const dag = deployed(5, 1);
      const run = created(dag, node.newRunId(5));
      await node.commit([dag, run, keyOf(run, dag.shard, 'key')]);
      const twin = created(dag, node.newRunId(5));
      const endings = await Promise.all([
        node.tryCommit([deployed(5, 2), twin, keyOf(twin, dag.shard, 'key')]),
        node.tryCommit([deployed(6, 1)]),
      ]);
      expect(endings[0]).toBe('refused');
      expect(endings[1]).not.toBe('done');
      const heads = await node.load([5, 6]);
      expect(heads.runs.map(({ runId }) => runId)).toEqual([run.runId]);
      expect(heads).toMatchObject({ shards: [{ commitNo: 1, lastDagNo: 1 }, { commitNo: 0 }] });
    },
  },
  {
    name: 'a name is used once within its tenant, whatever shards its dags are on',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5, 6]);
      const dag = deployed(5, 1);
      await node.commit([dag]);
      expect(await node.tryCommit([{ ...deployed(6, 1), name: dag.name }])).toBe('refused');
      expect(await node.load([5, 6])).toMatchObject({ shards: [{ commitNo: 1 }, { commitNo: 0 }] });
    },
  },
  ...strays.map(([what, change]) => ({
    name: `a change of ${what} that is not there is refused: an update must meet its row`,
    run: async (subject: StoreSubject) => {
      const node = await TestNode.start(subject, [5]);
      const dag = deployed(5, 1);
      const run = created(dag, node.newRunId(5));
      await node.commit([dag, run]);
      expect(await node.tryCommit([change(run)])).toBe('refused');
      expect(await node.load([5])).toMatchObject({ shards: [{ commitNo: 1 }], runs: [{ phase: 'open', tasks: [] }] });
    },
  })),
  {
    name: 'a commit without changes still counts its shard up',
    run: async (subject) => {
      const node = await TestNode.start(subject, [5]);
      const stamp = { ...node.stamp(5), commitNo: 1 };
      await node.chain.commit({ shards: [stamp], changes: [], at: START });
      expect((await node.load([5])).shards).toMatchObject([{ ...stamp, silentWorkers: [] }]);
    },
  },
  {
    name: 'commits of different shards do not wait for each other',
    run: async (subject) => {
      const slow = await TestNode.start(subject, [5]);
      const quick = await TestNode.start(subject, [6]);
      const held = await subject.hold(slow.store, 'before commit');
      const waiting = slow.tryCommit([{ kind: 'WorkerSilenced', shard: 5 as ShardNo, workerId: newWorkerId() }]);
      await held.reached();
      expect(await quick.tryCommit([deployed(6, 1)])).toBe('done');
      held.release();
      expect(await waiting).toBe('done');
    },
  },
];

import type { Instant, ShardNo } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { claimed, created, deployed, newWorkerId, succeeded } from './conformance/changes.ts';
import { findings, storeConformance } from './conformance/index.ts';
import { PostgresSubjects } from './conformance/postgres-subject.ts';
import { TestNode } from './conformance/test-node.ts';
import { payloadName } from './port.ts';

const DAY_MS = 86_400_000;

const subjects = await PostgresSubjects.start();
afterAll(() => subjects.stop());

storeConformance('the PostgreSQL store', () => subjects.subject());

test('without named statements, as behind a pooler, commits are fenced and come back the same', async () => {
  const makeSubject = () => subjects.subject('', { preparedStatements: false });
  expect(await findings(['fencing', 'round trip'], makeSubject)).toEqual([]);
});

test('a node finds what others wrote to partitions that came after its start (I17)', async () => {
  const subject = await subjects.subject();
  const next = await TestNode.on(await subject.open());
  const reader = await subject.open();
  const later = (Date.now() + 20 * DAY_MS) as Instant;
  const old = await TestNode.on(await subject.open({ now: () => later }), [5]);
  old.now = later;
  const dag = deployed(5, 1);
  const run = created(dag, old.newRunId(5), { params: '1', at: later });
  const waiting = created(dag, old.newRunId(5), { at: later });
  const claim = claimed(run, newWorkerId());
  await old.commit([dag, run, waiting, claim, succeeded(claim, '2')]);
  const shard = 5 as ShardNo;
  const seen = await reader.fetch([
    { kind: 'run', runId: run.runId },
    { kind: 'run_uid', shard, uid: waiting.uid },
  ]);
  expect(seen.runs.map(({ runId }) => runId)).toEqual([run.runId, waiting.runId]);
  const payloads = await reader.fetchPayloads([{ runId: run.runId, taskNo: claim.taskNo }]);
  expect(payloads.get(payloadName({ runId: run.runId, taskNo: claim.taskNo }))).toBe('2');
  const heads = await next.takeOver([5]);
  expect(heads.runs).toMatchObject([
    { runId: run.runId, tasks: [{ state: 'succeeded' }] },
    { runId: waiting.runId, tasks: [] },
  ]);
  expect((await next.store.loadRest([shard], null, 10)).runs).toHaveLength(1);
  await subject.close();
});

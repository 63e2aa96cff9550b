import type {
  AttemptEnded,
  AttemptNo,
  Change,
  DeadLetterWritten,
  Fingerprint,
  Instant,
  RunCreated,
  TaskNo,
} from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { ACTOR, claimed, created, deployed, ended, newWorkerId, succeeded } from './conformance/changes.ts';
import type { TestNode } from './conformance/test-node.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';
import { DAY_MS } from './leaf.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const NOW = Date.now() as Instant;
const daysAgo = (days: number) => (NOW - days * DAY_MS) as Instant;
const fingerprint = 0xa84a4374d9c0 as Fingerprint;

/** A run whose only claimed task has failed for good, and left a dead letter. */
async function fail(node: TestNode, dag: ReturnType<typeof deployed>, at: Instant): Promise<RunCreated> {
  const run = created(dag, node.newRunId(5), { params: '{}', at });
  const claim = claimed(run, newWorkerId());
  const { runId, uid, tenantId, dagId, versionNo } = run;
  const end: AttemptEnded = {
    ...succeeded(claim),
    outcome: 'permanent',
    taskState: 'failed',
    fingerprint,
    error: 'x',
    endedAt: at,
  };
  const of = { runId, uid, tenantId, dagId, versionNo, taskNo: 0 as TaskNo, attemptNo: 1 as AttemptNo };
  const why = {
    taskName: 'a',
    reason: 'permanent',
    outcome: 'permanent',
    code: null,
    fingerprint,
    error: 'x',
  } as const;
  const deadLetter: DeadLetterWritten = { kind: 'DeadLetterWritten', ...of, ...why, at };
  const over: Change = { ...ended(run), outcome: 'failed', at };
  await node.commit([run, claim, end, deadLetter, over]);
  return run;
}

async function close(node: TestNode, { runId }: RunCreated, at: Instant): Promise<void> {
  const deadLetter = { runId, taskNo: 0 as TaskNo, attemptNo: 1 as AttemptNo };
  await node.commit([{ kind: 'DeadLetterClosed', ...deadLetter, as: 'discarded', newUid: null, actor: ACTOR, at }]);
}

async function start(limit?: number): Promise<{ box: Fixture; node: TestNode; dag: ReturnType<typeof deployed> }> {
  const box = await fixtures.open();
  const node = await box.node([5]);
  const plain = deployed(5, 1, 1, NOW);
  const dag = limit === undefined ? plain : { ...plain, spec: { ...plain.spec, maxDeadLetters: limit } };
  await node.commit([dag]);
  return { box, node, dag };
}

test('letters expire by age, and the oldest of a dag that has more than it may', async () => {
  const { box, node, dag } = await start(2);
  const runs = [];
  for (const days of [40, 20, 10, 5, 1]) runs.push(await fail(node, dag, daysAgo(days)));
  const expiring = async (mostOfDag: number, limit = 100) =>
    (await box.store.expiringDeadLetters({ olderThan: daysAgo(30), mostOfDag, limit })).map(({ runId }) => runId);
  expect(await expiring(10_000)).toEqual(runs.slice(0, 3).map(({ runId }) => runId));
  expect(await expiring(10_000, 2)).toEqual(runs.slice(0, 2).map(({ runId }) => runId));
  await close(node, runs[0]!, NOW);
  expect(await expiring(10_000)).toEqual(runs.slice(1, 3).map(({ runId }) => runId));
  const other = await start();
  for (const days of [40, 20]) await fail(other.node, other.dag, daysAgo(days));
  const ofOther = await other.box.store.expiringDeadLetters({ olderThan: daysAgo(30), mostOfDag: 10_000, limit: 10 });
  expect(ofOther).toHaveLength(1);
});

test('closed ones are removed when that was long ago, open ones never', async () => {
  const { box, node, dag } = await start();
  const [open, late, early] = [
    await fail(node, dag, daysAgo(90)),
    await fail(node, dag, daysAgo(90)),
    await fail(node, dag, daysAgo(90)),
  ];
  await close(node, late, daysAgo(2));
  await close(node, early, daysAgo(60));
  expect(await box.store.dropClosedDeadLetters(daysAgo(30))).toBe(false);
  const left = await box.sql('select run_id from dead_letter order by run_id', []);
  expect(left.map((row) => Number(row.run_id))).toEqual([open, late].map(({ runId }) => runId).sort((a, b) => a - b));
});

test('a run with an open letter is kept, whatever its age, until the letter is closed (I62)', async () => {
  const { box, node, dag } = await start();
  const kept = await fail(node, dag, daysAgo(90));
  const expiry = { now: NOW, olderThan: (NOW + DAY_MS) as Instant, journalOlderThan: daysAgo(90) };
  const isThere = async () => (await box.store.fetch([{ kind: 'run', runId: kept.runId }])).runs.length === 1;
  await box.store.dropExpired(expiry);
  expect(await isThere()).toBe(true);
  await close(node, kept, NOW);
  await box.store.dropExpired({ ...expiry, now: NOW, olderThan: (NOW + 3 * DAY_MS) as Instant });
  expect(await isThere()).toBe(false);
});

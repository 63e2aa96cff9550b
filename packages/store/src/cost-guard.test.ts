/**
 * What a task costs the database, counted instead of timed: statements, rows, bytes sent and bytes of WAL. A change that makes one
 * of them grow fails here, on any machine. If the growth is worth it, raise the limit in the same commit and say why.
 */
import { type Change, foldRows, type RunCreated, type RunId } from '@signalbox/engine';
import { afterAll, expect, test, vi } from 'vitest';
import { commitCalls } from './commit.ts';
import { ACTOR, claimed, created, deployed, ended, newWorkerId, START, succeeded } from './conformance/changes.ts';
import { Fixtures } from './fixture.testing.ts';
import { LateMoves } from './late-moves.ts';
import { dayOf } from './leaf.ts';
import type { Value } from './statement.ts';

// What is counted here does not depend on time: a busy machine must not fail it.
vi.setConfig({ testTimeout: 600_000 });

const TASKS = 500;
const SHARD = 5;
const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const dag = deployed(SHARD, 1);

/** Three commits, as of a task that waits for a slot: created, claimed, ended. */
function commitsOf(runIds: readonly RunId[]): Change[][] {
  const runs = runIds.map((runId) => created(dag, runId));
  const claims = runs.map((run) => claimed(run, newWorkerId()));
  const closing = (run: RunCreated): Change => {
    const { runId } = run;
    return { kind: 'RunClosing', runId, outcome: 'succeeded', actor: ACTOR, at: START };
  };
  return [
    runs,
    claims,
    [...claims.map((claim) => succeeded(claim)), ...runs.flatMap((run) => [closing(run), ended(run)])],
  ];
}

test('a batch of tasks is 19 statements, however many tasks, and few bytes', async () => {
  const fixture = await fixtures.open();
  const owner = await fixture.node([SHARD]);
  const days = new Set([dayOf(START)]);
  const place = {
    nodeId: owner.nodeId,
    chainNo: 1,
    commitNo: 1,
    days: { run: days, journal: days, window: days },
    late: new LateMoves(),
  };
  const shards = [...owner.stamps.values()];
  const commits = commitsOf(Array.from({ length: TASKS }, () => owner.newRunId(SHARD)));
  const calls = commits.flatMap((changes) => commitCalls({ shards, changes, at: START }, place));
  expect(calls.map(({ statement }) => statement.name.replace(/_d\d+$/, ''))).toHaveLength(19);
  const bytes = calls.flatMap(({ values }) => values).reduce((sum: number, value) => sum + sizeOf(value), 0);
  expect(bytes / TASKS).toBeLessThan(600);
});

test('a task writes rows of its run and itself, and nothing else', () => {
  const ids = Array.from({ length: TASKS }, (_, no) => (no * 64 + SHARD) as RunId);
  const folds = commitsOf(ids).map(foldRows);
  const rows = folds.map(({ runs, payloads, supersededAttempts, taskNotes }) => {
    const tasks = [...runs.values()].reduce((sum, run) => sum + (run.tasks?.size ?? 0), 0);
    return { runs: runs.size, tasks, others: payloads.length + supersededAttempts.length + taskNotes.size };
  });
  expect(rows).toEqual([
    { runs: TASKS, tasks: 0, others: 0 },
    { runs: TASKS, tasks: TASKS, others: 0 },
    { runs: TASKS, tasks: TASKS, others: 0 },
  ]);
});

test('a task without output writes less than 1,320 bytes of WAL', async () => {
  const fixture = await fixtures.open();
  const owner = await fixture.node([SHARD]);
  await owner.commit([dag]);
  const flow = async () => {
    for (const changes of commitsOf(Array.from({ length: TASKS }, () => owner.newRunId(SHARD))))
      await owner.commit(changes);
  };
  // Pages that are touched for the first time since a checkpoint are logged whole.
  await fixture.sql('checkpoint');
  await flow();
  const position = async () => (await fixture.sql('select pg_current_wal_insert_lsn()::text as at'))[0]?.['at'];
  const before = await position();
  await flow();
  const [measured] = await fixture.sql(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)::float8 as bytes',
    [before],
  );
  expect(Number(measured?.['bytes']) / TASKS).toBeLessThan(1_320);
});

function sizeOf(value: Value): number {
  return value === null ? 0 : Buffer.isBuffer(value) ? value.length : Buffer.byteLength(String(value));
}

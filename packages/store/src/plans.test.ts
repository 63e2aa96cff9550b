/** Every statement of a commit and of a fetch goes by an index, on a fresh table and on a large one. */
import { randomUUID } from 'node:crypto';
import type { Change, NodeId, RunId, ScheduleNo } from '@signalbox/engine';
import { firstRunIdAt, TABLES } from '@signalbox/engine';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { commitCalls } from './commit.ts';
import { claimed, created, deployed, ended, keyOf, newWorkerId, START, succeeded } from './conformance/changes.ts';
import { type Fixture, Fixtures } from './fixture.testing.ts';
import { LateMoves } from './late-moves.ts';
import type { Call } from './statement.ts';
import { readRuns, readTasks } from './statements/read-run.ts';
import { statementsOf } from './tables/table-statements.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

const dag = deployed(5, 1);
const [fresh, known, other, third] = [1, 2, 3, 4].map((no) =>
  created(dag, (firstRunIdAt(START) + 5 * 65_536 + no) as RunId, { params: '{}' }),
) as [ReturnType<typeof created>, ReturnType<typeof created>, ReturnType<typeof created>, ReturnType<typeof created>];
const claim = claimed(known, newWorkerId());
const again = { ...claim, taskNo: 1 as never, firstOfTask: false, firstOfRun: false };
const key = { shard: dag.shard, dagId: dag.dagId, scheduleNo: 1 as ScheduleNo, name: 'default' };

const everything: Change[] = [
  dag,
  { kind: 'DagRetired', shard: dag.shard, dagId: (dag.dagId + 128) as never, actor: dag.actor, at: START },
  {
    kind: 'DagRevived',
    shard: dag.shard,
    tenantId: dag.tenantId,
    dagId: (dag.dagId + 192) as never,
    event: 'e',
    actor: dag.actor,
    at: START,
  },
  { kind: 'ScheduleRemoved', decidedUntil: START, ...key, actor: dag.actor, at: START },
  {
    kind: 'WindowDecided',
    ...key,
    dagId: (dag.dagId + 64) as never,
    firesAt: START,
    wallTime: null,
    runId: null,
    skipped: 'gap',
    count: 1,
    untilAt: START,
    at: START,
  },
  {
    kind: 'WindowDecided',
    ...key,
    scheduleNo: 3 as ScheduleNo,
    dagId: (dag.dagId + 64) as never,
    firesAt: START,
    wallTime: null,
    runId: null,
    skipped: 'gap',
    count: 1,
    untilAt: START,
    at: START,
  },
  {
    kind: 'ScheduleParked',
    ...{ shard: dag.shard, dagId: dag.dagId, scheduleNo: 2 as ScheduleNo },
    ...{ dueAt: START, decidedUntil: START, at: START },
  },
  fresh,
  keyOf(fresh, dag.shard, 'key'),
  succeeded(claim, 'out'),
  ended(known),
  again,
  { ...succeeded({ ...claim, taskNo: 2 as never }), taskState: 'retrying', retryAt: START, outcome: 'lost' },
  { kind: 'RunAdmitted', runId: other.runId, at: START },
  { ...again, kind: 'CheckpointSaved', no: 1, value: '{}' },
  { ...again, kind: 'TasksAdded', tasks: [] },
  {
    ...succeeded({ ...claim, taskNo: 1 as never }),
    taskState: 'failed',
    outcome: 'permanent',
    fingerprint: 7 as never,
  },
  {
    kind: 'DeadLetterWritten',
    runId: known.runId,
    taskNo: 1 as never,
    attemptNo: 1 as never,
    uid: known.uid,
    taskName: 'a',
    tenantId: known.tenantId,
    dagId: known.dagId,
    versionNo: known.versionNo,
    reason: 'permanent',
    outcome: 'permanent',
    code: null,
    fingerprint: 7 as never,
    error: null,
    at: START,
  },
  {
    kind: 'BreakerSet',
    shard: dag.shard,
    tenantId: dag.tenantId,
    dagId: dag.dagId,
    fingerprint: null,
    state: 'open',
    pauseMs: 1,
    openedAt: START,
    error: null,
    actor: dag.actor,
    at: START,
  },

  { kind: 'RunReopened', runId: (third.runId + 1) as RunId, admitted: true, retryNo: 0, actor: dag.actor, at: START },
  {
    kind: 'TaskCleared',
    runId: (third.runId + 1) as RunId,
    taskNo: 0 as never,
    attemptNo: 1 as never,
    fence: 1 as never,
    from: 'failed',
    freshBudget: true,
    more: false,
    actor: dag.actor,
    at: START,
  },
  claimed(third, newWorkerId()),
  { kind: 'WorkerHeardAgain', shard: dag.shard, workerId: newWorkerId() },
  { kind: 'WorkerSilenced', shard: dag.shard, workerId: newWorkerId() },
];

const tableStatements = Object.values(TABLES).flatMap((table) => {
  const { insert, put, patch, remove, fetch } = statementsOf(table);
  return [insert, put, patch, remove, fetch];
});

function callsOf(box: Fixture): Call[] {
  const stamp = { shard: dag.shard, epoch: 1 as never, commitNo: 1, lastRunId: 1 as RunId, lastDagNo: 1 };
  const batch = { shards: [stamp, { ...stamp, shard: 6 as never }], changes: everything, at: START };
  const { days } = box.store.partitions;
  const commit = commitCalls(batch, {
    nodeId: randomUUID() as NodeId,
    chainNo: 1,
    commitNo: 1,
    days,
    late: new LateMoves(),
  }).slice(2, -1);
  return [
    ...commit,
    readRuns('default', [1 as RunId]),
    readTasks('default', [1 as RunId]),
    ...tableStatements.map((statement) => ({ statement, values: [] })),
  ];
}

async function plansOf(box: Fixture): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: box.url });
  await client.connect();
  await client.query(`begin`);
  // As commit_fence sets them.
  for (const setting of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan']) {
    await client.query(`set local ${setting} = off`);
  }
  const plans = new Map<string, string>();
  for (const { statement } of callsOf(box)) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${statement.text}`);
    plans.set(statement.name, rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  await client.end();
  return plans;
}

function expectIndexes(plans: ReadonlyMap<string, string>): void {
  expect(plans.size).toBeGreaterThan(18);
  for (const [name, plan] of plans) {
    expect(plan, name).not.toMatch(/Seq Scan|Disabled|Hash Join|Merge Join/);
    if (/^(end|change|mark|delete|move|select|patch|remove|fetch)_/.test(name))
      expect(plan, name).toMatch(/Index (Only )?Scan/);
    // By the whole key: other indexes begin as it does, and a dag may have a million schedules.
    if (/^(move|park)_schedules_more$/.test(name))
      expect(plan, name).toMatch(/on schedule_more .*\n\s+Index Cond: .*schedule_no = /);
  }
  expect([...plans.keys()]).toEqual(expect.arrayContaining(['move_schedules_more', 'park_schedules_more']));
}

test('on fresh tables, of which nothing is known', async () => {
  expectIndexes(await plansOf(await fixtures.open()));
});

test('on large tables', async () => {
  const box = await fixtures.open({ now: () => START });
  const leaf = `d${Math.floor(START / 86_400_000)}`;
  await box.sql(`insert into run_${leaf} (shard, run_id, uid, tenant_id, dag_id, version_no, priority, cause, created_at, phase,
      strikes, admitted, set_aside, has_params, actor)
    select g % 64, ${firstRunIdAt(START)} + g, gen_random_uuid(), 1, 64 + g % 64, 1, 2, 0, g, 2, 0, true, false, false, 'x'
      from generate_series(1, 100000) g`);
  await box.sql(`insert into task_${leaf} (shard, run_id, task_no, attempt_no, fence, worker_id, claimed_at, lost_count, state)
    select shard, run_id, 0, 1, 1, uid, 1, 0, 3 from run_${leaf}`);
  await box.sql(`insert into live_run select run_id, dag_id, shard, priority, true, false from run_${leaf}`);
  for (const table of ['run', 'task', 'live_run']) await box.sql(`analyze ${table}`);
  const plans = await plansOf(box);
  expect([...plans.keys()].some((name) => name.endsWith(leaf))).toBe(true);
  expectIndexes(plans);
});

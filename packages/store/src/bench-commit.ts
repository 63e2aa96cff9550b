/**
 * How fast commits are, beside raw PostgreSQL work of the same kind in the same run.
 *
 *   node packages/store/dist/bench-commit.js [tasks per size]
 *
 * Each task is a run of its own, over all 64 shards. *Queued*: created in one commit, claimed in the next, ended in the
 * third. *At once*: created and claimed in one, ended in the next.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Actor,
  type AttemptNo,
  type Change,
  type DagId,
  type Fence,
  type Instant,
  makeRunUid,
  type NodeId,
  nextRunId,
  type RunId,
  SHARD_COUNT,
  type ShardNo,
  shardOfRun,
  type TaskNo,
  type TenantId,
  type VersionNo,
  type WorkerId,
} from '@signalbox/engine';
import { startTestPostgres } from '@signalbox/postgres/testing';
import pg from 'pg';
import { runBatch } from './batch.ts';
import { type CommitChain, openPostgresStore, type ShardStamp } from './index.ts';
import { migrate } from './migrate.ts';
import { call, statement } from './statement.ts';
import { plainArray } from './text.ts';

const IN_FLIGHT = 2;
const ids = { tenantId: 1 as TenantId, versionNo: 1 as VersionNo, actor: 'bench' as Actor };
const worker = randomUUID() as WorkerId;
const now = () => Date.now() as Instant;

class Batches {
  readonly #stamps = new Map<ShardNo, ShardStamp>();
  #count = 0;

  constructor(stamps: readonly ShardStamp[]) {
    for (const stamp of stamps) this.#stamps.set(stamp.shard, stamp);
  }

  create(count: number): RunId[] {
    return Array.from({ length: count }, () => {
      const shard = (this.#count++ % SHARD_COUNT) as ShardNo;
      const stamp = this.#stamps.get(shard);
      if (stamp === undefined) throw new Error(`no shard ${shard}`);
      const lastRunId = nextRunId(shard, stamp.lastRunId, now());
      this.#stamps.set(shard, { ...stamp, lastRunId });
      return lastRunId;
    });
  }

  stamp(runs: readonly RunId[]): ShardStamp[] {
    return [...new Set(runs.map(shardOfRun))].map((shard) => {
      const stamp = this.#stamps.get(shard) as ShardStamp;
      const next = { ...stamp, commitNo: stamp.commitNo + 1 };
      this.#stamps.set(shard, next);
      return next;
    });
  }
}

const created = (runId: RunId): Change => ({
  kind: 'RunCreated',
  ...ids,
  runId,
  uid: makeRunUid(shardOfRun(runId), now(), Math.random() * 2 ** 48, Math.random() * 2 ** 26),
  dagId: (SHARD_COUNT + shardOfRun(runId)) as DagId,
  priority: 'normal',
  cause: 'api',
  firesAt: null,
  admitted: true,
  params: null,
  facts: null,
  at: now(),
});
const attempt = (runId: RunId) => ({
  runId,
  taskNo: 0 as TaskNo,
  attemptNo: 1 as AttemptNo,
  fence: 1 as Fence,
  workerId: worker,
});
const claimed = (runId: RunId): Change => ({
  kind: 'AttemptClaimed',
  ...attempt(runId),
  firstOfTask: true,
  firstOfRun: true,
  at: now(),
});
const ended = (runId: RunId): Change[] => [
  {
    kind: 'AttemptEnded',
    ...attempt(runId),
    outcome: 'succeeded',
    taskState: 'succeeded',
    claimedAt: now(),
    startedAt: now(),
    endedAt: now(),
    retryAt: null,
    lostCount: 0,
    fingerprint: null,
    quick: null,
    output: null,
    facts: null,
    error: null,
    code: null,
  },
  { kind: 'RunEnded', runId, outcome: 'succeeded', at: now() },
];

/** Seconds of processor time that a process has used (Linux). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function flow(count: number, send: (no: number) => Promise<unknown>[]): Promise<void> {
  let inFlight: Promise<unknown>[] = [];
  for (let no = 0; no < count; no++) {
    inFlight.push(...send(no));
    while (inFlight.length > IN_FLIGHT) await inFlight.shift();
  }
  await Promise.all(inFlight);
  inFlight = [];
}

interface Measured {
  readonly tasksPerSecond: number;
  readonly cpuMicros: number;
}

async function measure(pid: number, tasks: number, work: () => Promise<void>): Promise<Measured> {
  const [cpu, start] = [cpuSeconds(pid), performance.now()];
  await work();
  const seconds = (performance.now() - start) / 1000;
  return { tasksPerSecond: Math.round(tasks / seconds), cpuMicros: ((cpuSeconds(pid) - cpu) / tasks) * 1e6 };
}

type Flow = 'queued' | 'at once';

function commitTasks(chain: CommitChain, batches: Batches, how: Flow, size: number, tasks: number): Promise<void> {
  return flow(Math.ceil(tasks / size), () => {
    const runs = batches.create(size);
    const begun = [runs.map(created), runs.map(claimed)];
    const commits = how === 'queued' ? begun : [begun.flat()];
    return [...commits, runs.flatMap(ended)].map((changes) =>
      chain.commit({ shards: batches.stamp(runs), changes, at: now() }),
    );
  });
}

const rawInsert = statement('raw_insert', 'insert into raw_task (id) select unnest($1::bigint[])');
const rawUpdate = statement(
  'raw_update',
  'update raw_task t set state = 1 from unnest($1::bigint[]) u (id) where t.id = u.id',
);
const rawEvents = statement('raw_events', 'insert into raw_event (events) values ($1::bytea)');
const begin = statement('raw_begin', 'begin');
const commit = statement('raw_commit', 'commit');
const hold = statement(
  'raw_hold',
  `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
);

/** An insert, a HOT update and packed events per task, in two transactions. */
function rawTasks(client: pg.Client, size: number, tasks: number, from: number): Promise<void> {
  return flow(Math.ceil(tasks / size), (no) => {
    const list = plainArray(Array.from({ length: size }, (_, i) => from + no * size + i));
    const events = Buffer.alloc(size * 20);
    const around = (work: ReturnType<typeof call>) =>
      runBatch(client, [call(begin), call(hold), work, call(rawEvents, events), call(commit)], true);
    return [around(call(rawInsert, list)), around(call(rawUpdate, list))];
  });
}

async function main(): Promise<void> {
  const tasksPerSize = Number(process.argv[2] ?? 20_000);
  const server = await startTestPostgres({ durable: true, settings: { shared_buffers: '256MB', max_wal_size: '2GB' } });
  try {
    await migrate(server.url);
    const store = await openPostgresStore({ url: server.url });
    const nodeId = randomUUID() as NodeId;
    await store.registerNode({ nodeId, peerAddress: 'bench', gatewayAddress: 'bench', dataAddress: '', version: '' });
    const wanted = (await store.observe()).shards.map(({ shard, epoch }) => ({ shard, seenEpoch: epoch }));
    await store.takeShards({ nodeId, shards: wanted, lockTimeoutMs: 1_000, windowGraceMs: 10_000 });
    const { shards } = await store.loadHeads(
      wanted.map(({ shard }) => shard),
      10,
    );
    const chain = await store.openChain(nodeId);
    const batches = new Batches(shards);
    const raw = new pg.Client({ connectionString: server.url, pipeline: true });
    await raw.connect();
    await raw.query(`create table raw_task (id bigint primary key, state smallint not null default 0,
      a bigint default 0, b bigint default 0, c uuid default gen_random_uuid()) with (fillfactor = 50)`);
    await raw.query('create table raw_event (id bigint generated always as identity primary key, events bytea)');
    const pids = await raw.query<{ pid: number; query: string }>(
      'select pid, query from pg_stat_activity where datname is not null',
    );
    const own = await raw.query<{ pid: number }>('select pg_backend_pid() as pid');
    const rawPid = own.rows[0]?.pid ?? 0;
    const chainPid = pids.rows.find(
      ({ query }) => query.includes('ask_writable') || query.includes('pg_is_in_recovery'),
    )?.pid;
    const sizes: [number, Flow][] = [1, 50, 500]
      .flatMap((size) => [[size, 'queued'] as const, [size, 'at once'] as const])
      .map(([size, how]) => [size, how]);
    for (const [size, how] of sizes) {
      const tasks = Math.max(size, Math.ceil(tasksPerSize * (size === 1 ? 0.05 : 1)));
      const ours = await measure(chainPid ?? rawPid, tasks, () => commitTasks(chain, batches, how, size, tasks));
      const theirs = await measure(rawPid, tasks, () => rawTasks(raw, size, tasks, batches.create(1)[0] ?? 0));
      console.log(
        `groups of ${String(size).padStart(3)}, ${how.padEnd(7)}: ${ours.tasksPerSecond} tasks/s, ${ours.cpuMicros.toFixed(1)} µs of backend CPU each` +
          ` · raw ${theirs.tasksPerSecond}/s, ${theirs.cpuMicros.toFixed(1)} µs`,
      );
    }
    await raw.end();
    await chain.close();
    await store.close();
  } finally {
    await server.stop();
  }
}

await main();

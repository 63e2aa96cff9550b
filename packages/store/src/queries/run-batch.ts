/**
 * Reads many small runs at once, of any tenants, each with everything that is stored about it, in two round trips. One run by itself
 * takes five, and twenty statements.
 */
import {
  type DagId,
  isOwnRunId,
  type RunId,
  type RunUid,
  SHARD_COUNT,
  type ShardNo,
  shardOfUid,
  type TenantId,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { deadLetterReasons } from '../codes.ts';
import type { Ask, Database } from '../database.ts';
import { millisecondsOfUid } from '../fetch.ts';
import { byLeaf, dayOf, type KnownDays, type Leaf, readable } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { plainArray, textArray } from '../text.ts';
import { HEAD_COLUMNS, HEAD_COUNT, hasMaps, parseHead, withAttempts } from './get-run.ts';
import type { KnownSpecs } from './known-specs.ts';
import { UUID } from './resolve-run.ts';
import type { RunDetails } from './run-details.ts';
import { parsePayloads, type RunPayloads } from './run-payloads.ts';
import { ATTEMPT_COLUMNS, NO_ATTEMPT, taskColumns } from './task-view.ts';

export interface WantedRun {
  readonly tenantId: TenantId;
  readonly uid: string;
}

export interface BatchedRun {
  readonly run: Omit<RunDetails, 'children'>;
  readonly payloads: RunPayloads;
}

/** A run with more than these is read by itself, so that it delays nobody else. */
const MOST_TASKS = 100;
const MOST_ATTEMPTS = 200;
const MOST_PAYLOAD_BYTES = 65_536;

/**
 * Leans on the index (shard, uid) of the partition. The tenant is part of the question, so a run of another one is not there (I65).
 * `offset 0`, here and below, keeps it at one look by the index for each.
 */
const selectHeads = leafStatement(
  'batch_runs',
  (leaf) => `
  select ${HEAD_COLUMNS}, u.place
    from unnest($1::integer[], $2::smallint[], $3::uuid[], $4::integer[]) as u (place, shard, uid, tenant_id)
    cross join lateral (select * from ${readable('run', leaf)} b
      where b.shard = u.shard and b.uid = u.uid and b.tenant_id = u.tenant_id offset 0) r
    join dag d on d.shard = r.shard and d.dag_id = r.dag_id
    join dag_version v on v.shard = r.shard and v.dag_id = r.dag_id and v.version_no = r.version_no`,
);

const RUNS = 'from unnest($1::smallint[], $2::bigint[]) as u (shard, run_id)';

/** By the primary key (shard, run_id, task_no …), as all that follow. */
const selectTasks = leafStatement(
  'batch_tasks',
  (leaf) => `
  select u.run_id, ${taskColumns(leaf)} ${RUNS}
    cross join lateral (select * from ${readable('task', leaf)} b
      where b.shard = u.shard and b.run_id = u.run_id order by b.task_no offset 0) a`,
);
const selectAttempts = leafStatement(
  'batch_attempts',
  (leaf) => `
  select u.run_id, ${ATTEMPT_COLUMNS}, a.speculative ${RUNS}
    cross join lateral (select b.* from ${readable('attempt', leaf)} b
      cross join lateral (select outcome, state, attempt_no from ${readable('task', leaf)} c
        where c.shard = b.shard and c.run_id = b.run_id and c.task_no = b.task_no offset 0) t
      where b.shard = u.shard and b.run_id = u.run_id and (b.attempt_no <> t.attempt_no or ${NO_ATTEMPT})
      order by b.task_no, b.attempt_no limit ${MOST_ATTEMPTS + 1}) a`,
);
const selectUsage = leafStatement(
  'batch_usage',
  (leaf) => `
  select u.run_id, a.task_no, a.fence, a.cpu_ms, a.peak_bytes ${RUNS}
    cross join lateral (select * from ${readable('attempt_usage', leaf)} b
      where b.shard = u.shard and b.run_id = u.run_id offset 0) a`,
);
/** A body is null where those up to it are too large for a batch: lengths are known without reading them. */
const selectPayloads = leafStatement(
  'batch_payloads',
  (leaf) => `
  select u.run_id, p.task_no, case when p.bytes <= ${MOST_PAYLOAD_BYTES} then p.body end ${RUNS}
    cross join lateral (select b.task_no, b.body, sum(octet_length(b.body)) over (order by b.task_no) as bytes
      from ${readable('payload', leaf)} b
      where b.shard = u.shard and b.run_id = u.run_id and b.task_no >= -1 offset 0) p`,
);
/** Open ones. */
const selectDeadLetters = statement(
  'batch_letters',
  `
  select u.run_id, l.task_no, l.reason ${RUNS}
    cross join lateral (select * from dead_letter b
      where b.shard = u.shard and b.run_id = u.run_id and b.state = 0 offset 0) l`,
);
/** Of dags. Fingerprint 0 is the dag's own. */
const selectBreakers = statement(
  'batch_breakers',
  `
  select k.dag_id, k.fingerprint from unnest($1::smallint[], $2::bigint[]) as u (shard, dag_id)
    cross join lateral (select * from breaker b where b.shard = u.shard and b.dag_id = u.dag_id offset 0) k`,
);

type Head = Awaited<ReturnType<typeof parseHead>>;
interface Small {
  readonly place: number;
  readonly head: Head;
  readonly leaf: Leaf;
}

/** In the order of those that are wanted. Undefined: read it by itself, because it is large, has maps, or is not where its id says. */
export async function readRunBatch(
  database: Database,
  days: KnownDays,
  specs: KnownSpecs,
  wanted: readonly WantedRun[],
): Promise<readonly (BatchedRun | undefined)[]> {
  const found: (BatchedRun | undefined)[] = wanted.map(() => undefined);
  const near = byLeaf(placesOf(days, wanted), ({ leaf }) => leaf);
  if (near.size === 0) return found;
  await database.snapshot(async (ask) => {
    const small = await findSmall(ask, specs, [...near]);
    if (small.length > 0) for (const [place, run] of await readWhole(ask, small)) found[place] = run;
  });
  return found;
}

interface Place {
  readonly place: number;
  readonly leaf: Leaf;
  readonly shard: ShardNo;
  readonly uid: string;
  readonly tenantId: TenantId;
}

/** The clock of a uid says on which day its run was made, but for those of another machine's clock at midnight: they are read alone. */
function placesOf(days: KnownDays, wanted: readonly WantedRun[]): Place[] {
  return wanted.flatMap(({ tenantId, uid: given }, place): Place[] => {
    const uid = given.toLowerCase();
    if (!UUID.test(uid) || isOwnRunId(uid)) return [];
    const shard = shardOfUid(uid as RunUid);
    const day = dayOf(millisecondsOfUid(uid as RunUid));
    return shard < SHARD_COUNT && days.run.has(day) ? [{ place, leaf: `d${day}`, shard, uid, tenantId }] : [];
  });
}

async function findSmall(ask: Ask, specs: KnownSpecs, near: readonly (readonly [Leaf, Place[]])[]): Promise<Small[]> {
  const results = await ask(
    near.map(([leaf, places]) =>
      call(
        selectHeads(leaf),
        plainArray(places.map(({ place }) => place)),
        plainArray(places.map(({ shard }) => shard)),
        textArray(places.map(({ uid }) => uid)),
        plainArray(places.map(({ tenantId }) => tenantId)),
      ),
    ),
  );
  const small: Small[] = [];
  for (const [i, { rows }] of results.entries()) {
    for (const row of rows) {
      const head = await parseHead(ask, specs, row);
      if (head.spec.tasks.length > MOST_TASKS || hasMaps(head.spec)) continue;
      small.push({ place: Number(row[HEAD_COUNT]), head, leaf: near[i]![0] });
    }
  }
  return small;
}

async function readWhole(ask: Ask, small: readonly Small[]): Promise<Map<number, BatchedRun>> {
  const dags = new Map<DagId, ShardNo>(small.map(({ head }) => [head.dagId, head.shard]));
  const leaves = [...byLeaf(small, ({ leaf }) => leaf)];
  // A run that several ask for is read once.
  const keysOf = (list: readonly Small[]) => {
    const keys = [...new Map(list.map(({ head }) => [head.runId, head.shard]))];
    return [plainArray(keys.map(([, shard]) => shard)), plainArray(keys.map(([runId]) => runId))] as const;
  };
  const results = await ask(
    [
      call(selectBreakers, plainArray([...dags.values()]), plainArray([...dags.keys()])),
      call(selectDeadLetters, ...keysOf(small)),
      ...leaves.flatMap(([leaf, list]) =>
        [selectTasks, selectAttempts, selectUsage, selectPayloads].map((of) => call(of(leaf), ...keysOf(list))),
      ),
    ],
    { last: true },
  );
  const breakers = grouped(results[0]?.rows);
  const letters = grouped(results[1]?.rows);
  const read = new Map<number, BatchedRun>();
  for (const [i, [, list]] of leaves.entries()) {
    const [tasks, attempts, usage, payloads] = [0, 1, 2, 3].map((part) => grouped(results[2 + 4 * i + part]?.rows));
    for (const { place, head } of list) {
      const of = (rows: Grouped | undefined) => ({ rows: rows?.get(head.runId) ?? NO_ROWS });
      const bodies = of(payloads).rows;
      if (bodies.some(([, body]) => body === null) || of(attempts).rows.length > MOST_ATTEMPTS) continue;
      const parts = withAttempts([of(tasks), of(attempts), of(usage)]);
      const run = {
        ...head,
        ...parts,
        outline: parts.tasks,
        maps: [],
        breakers: (breakers.get(head.dagId) ?? NO_ROWS).map(([fingerprint]) => Number(fingerprint)),
        deadLetters: new Map(
          of(letters).rows.map(([taskNo, reason]) => [Number(taskNo), deadLetterReasons.word(Number(reason))]),
        ),
      };
      read.set(place, { run, payloads: parsePayloads(bodies) });
    }
  }
  return read;
}

const NO_ROWS: readonly Row[] = [];
type Grouped = ReadonlyMap<RunId | DagId, readonly Row[]>;

/** By their first column, which is left out. */
function grouped(rows: readonly Row[] = NO_ROWS): Grouped {
  const groups = new Map<RunId | DagId, Row[]>();
  for (const [first, ...rest] of rows) {
    const id = Number(first) as RunId | DagId;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [rest]);
    else group.push(rest);
  }
  return groups;
}

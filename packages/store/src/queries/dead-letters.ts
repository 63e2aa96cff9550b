/** Dead letters and breakers, for people. Every statement names the tenant (I65), except those of upkeep. */
import type {
  AttemptNo,
  AttemptOutcome,
  DagId,
  DeadLetterReason,
  DeadLetterRef,
  DeadLetterState,
  Fingerprint,
  Instant,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  TenantId,
  VersionNo,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { attemptOutcomes, breakerStates, deadLetterReasons, deadLetterStates } from '../codes.ts';
import type { Database } from '../database.ts';
import { call, statement, type Value } from '../statement.ts';
import { decodeNullableText, decodeText, encodeText } from '../text.ts';

export interface DeadLetterFilter {
  readonly dagName: string | null;
  readonly fingerprint: Fingerprint | null;
  readonly taskName: string | null;
  readonly reason: DeadLetterReason | null;
}

export interface DeadLetterRow extends DeadLetterRef {
  readonly shard: ShardNo;
  readonly uid: RunUid;
  readonly dagId: DagId;
  readonly dagName: string;
  readonly versionNo: VersionNo;
  readonly taskName: string;
  readonly reason: DeadLetterReason;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly fingerprint: Fingerprint;
  readonly error: string | null;
  readonly at: Instant;
  readonly state: DeadLetterState;
  readonly closedAt: Instant | null;
  readonly closedBy: string | null;
  readonly newUid: RunUid | null;
}

/** Where a list goes on: after this dead letter. */
export interface DeadLetterCursor {
  readonly at: number;
  readonly runId: number;
  readonly taskNo: number;
  readonly attemptNo: number;
}

const COLUMNS = `l.shard, l.run_id, l.task_no, l.attempt_no, l.uid, l.dag_id, d.name, l.version_no, l.task_name, l.reason, l.outcome,
    l.code, l.fingerprint, l.error, l.at, l.state, l.closed_at, l.closed_by, l.new_uid`;
const TABLES = 'dead_letter l join dag d on d.shard = l.shard and d.dag_id = l.dag_id';
/** From $1 on: tenant, state, dag, fingerprint, task, reason. The name of a mapped task stands for all of its instances. */
const FILTER = `l.tenant_id = $1::integer and l.state = $2::smallint and ($3::text is null or d.name = $3::text)
    and ($4::bigint is null or l.fingerprint = $4::bigint) and ($5::text is null or $5::text in (l.task_name, split_part(l.task_name, '[', 1)))
    and ($6::smallint is null or l.reason = $6::smallint)`;
const PLACE = '(l.at, l.run_id, l.task_no, l.attempt_no)';

/** Those of open ones lean on the indexes (tenant_id, at) and (tenant_id, fingerprint, at) where state = 0. */
const page = (name: string, order: 'asc' | 'desc') =>
  statement(
    name,
    `
  select ${COLUMNS} from ${TABLES}
   where ${FILTER} and ${PLACE} ${order === 'asc' ? '>' : '<'} ($7::bigint, $8::bigint, $9::integer, $10::integer)
   order by l.at ${order}, l.run_id ${order}, l.task_no ${order}, l.attempt_no ${order} limit $11::integer`,
  );
const selectNewest = page('list_letters', 'desc');
const selectOldest = page('walk_letters', 'asc');

const selectOne = statement(
  'find_letter',
  `
  select ${COLUMNS} from ${TABLES}
   where l.shard = $2::smallint and l.uid = $3::uuid and l.task_no = $4::integer and l.attempt_no = $5::integer and l.tenant_id = $1::integer`,
);

const countByDag = statement(
  'count_letters',
  `select d.name, count(*), count(distinct l.run_id) from ${TABLES} where ${FILTER} group by d.name order by d.name`,
);

/** Of open ones: what has the same fingerprint and was last seen lately, the largest first. */
const selectGroups = statement(
  'group_letters',
  `
  with parts as (
    select l.fingerprint, l.dag_id, l.shard, d.name, count(*) as letters, min(l.at) as first_at, max(l.at) as last_at,
        array_agg(distinct l.version_no order by l.version_no) as versions, min(l.outcome) as outcome,
        (array_agg(l.code order by l.at desc))[1] as code, (array_agg(l.error order by l.at desc))[1] as error
      from ${TABLES}
     where l.tenant_id = $1::integer and l.state = 0 and ($2::text is null or d.name = $2::text)
     group by l.fingerprint, l.dag_id, l.shard, d.name)
  select fingerprint, sum(letters), min(first_at), max(last_at), min(outcome), (array_agg(code order by last_at desc))[1],
      (array_agg(error order by last_at desc))[1],
      json_agg(json_build_object('dag', name, 'versions', versions, 'count', letters) order by letters desc)::text
    from parts group by fingerprint order by sum(letters) desc, max(last_at) desc limit $3::integer`,
);

const selectBreakers = statement(
  'list_breakers',
  `
  select b.shard, b.dag_id, d.name, b.fingerprint, b.state, b.opened_at, b.since, b.pause_ms, b.error
    from breaker b join dag d on d.shard = b.shard and d.dag_id = b.dag_id
   where b.tenant_id = $1::integer and ($2::text is null or d.name = $2::text) order by d.name, b.fingerprint limit 1000`,
);

export async function listDeadLetters(
  database: Database,
  tenantId: TenantId,
  list: DeadLetterFilter & { state: DeadLetterState; before: DeadLetterCursor | null; limit: number },
): Promise<DeadLetterRow[]> {
  const { at, runId, taskNo, attemptNo } = list.before ?? LAST;
  return ask(database, selectNewest, [
    ...filterOf(tenantId, list, list.state),
    at,
    runId,
    taskNo,
    attemptNo,
    list.limit,
  ]);
}

/** Open ones, oldest first, for those who go through all of them. */
export async function walkDeadLetters(
  database: Database,
  tenantId: TenantId,
  list: DeadLetterFilter & { after: DeadLetterCursor | null; limit: number },
): Promise<DeadLetterRow[]> {
  const { at, runId, taskNo, attemptNo } = list.after ?? FIRST;
  return ask(database, selectOldest, [...filterOf(tenantId, list, 'open'), at, runId, taskNo, attemptNo, list.limit]);
}

export async function findDeadLetter(
  database: Database,
  tenantId: TenantId,
  deadLetter: { shard: ShardNo; uid: string; taskNo: number; attemptNo: number },
): Promise<DeadLetterRow | null> {
  const [found] = await ask(database, selectOne, [
    tenantId,
    deadLetter.shard,
    deadLetter.uid,
    deadLetter.taskNo,
    deadLetter.attemptNo,
  ]);
  return found ?? null;
}

/** How many open ones, by dag, and of how many runs. */
export async function countDeadLetters(
  database: Database,
  tenantId: TenantId,
  filter: DeadLetterFilter,
): Promise<{ dag: string; deadLetters: number; runs: number }[]> {
  const [found] = await database.snapshot((asked) =>
    asked([call(countByDag, ...filterOf(tenantId, filter, 'open'))], { last: true }),
  );
  return (found?.rows ?? []).map(([dag, deadLetters, runs]) => ({
    dag: decodeText(dag ?? ''),
    deadLetters: Number(deadLetters),
    runs: Number(runs),
  }));
}

export interface DeadLetterGroupRow {
  readonly fingerprint: Fingerprint;
  readonly count: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly error: string | null;
  readonly dags: readonly { readonly dag: string; readonly versions: readonly number[]; readonly count: number }[];
}

export async function groupDeadLetters(
  database: Database,
  tenantId: TenantId,
  { dagName, limit }: { dagName: string | null; limit: number },
): Promise<DeadLetterGroupRow[]> {
  const name = dagName === null ? null : encodeText(dagName);
  const [found] = await database.snapshot((asked) =>
    asked([call(selectGroups, tenantId, name, limit)], { last: true }),
  );
  return (found?.rows ?? []).map(([fingerprint, count, firstAt, lastAt, outcome, code, error, dags]) => ({
    fingerprint: Number(fingerprint) as Fingerprint,
    count: Number(count),
    firstAt: Number(firstAt) as Instant,
    lastAt: Number(lastAt) as Instant,
    outcome: attemptOutcomes.word(Number(outcome)),
    code: decodeNullableText(code ?? null),
    error: decodeNullableText(error ?? null),
    dags: (JSON.parse(dags ?? '[]') as DeadLetterGroupRow['dags']).map(({ dag, ...rest }) => ({
      ...rest,
      dag: decodeText(dag),
    })),
  }));
}

export interface BreakerRow {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  readonly dagName: string;
  readonly fingerprint: Fingerprint | null;
  readonly state: 'open' | 'ramping';
  readonly openedAt: Instant;
  readonly since: Instant;
  readonly pauseMs: number;
  readonly error: string | null;
}

export async function listBreakers(
  database: Database,
  tenantId: TenantId,
  dagName: string | null,
): Promise<BreakerRow[]> {
  const name = dagName === null ? null : encodeText(dagName);
  const [found] = await database.snapshot((asked) => asked([call(selectBreakers, tenantId, name)], { last: true }));
  return (found?.rows ?? []).map(([shard, dagId, dag, fingerprint, state, openedAt, since, pauseMs, error]) => ({
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    dagName: decodeText(dag ?? ''),
    fingerprint: fingerprint === '0' ? null : (Number(fingerprint) as Fingerprint),
    state: breakerStates.word(Number(state)) as BreakerRow['state'],
    openedAt: Number(openedAt) as Instant,
    since: Number(since) as Instant,
    pauseMs: Number(pauseMs),
    error: decodeNullableText(error ?? null),
  }));
}

const LAST: DeadLetterCursor = { at: Number.MAX_SAFE_INTEGER, runId: Number.MAX_SAFE_INTEGER, taskNo: 0, attemptNo: 0 };
const FIRST: DeadLetterCursor = { at: -1, runId: -1, taskNo: 0, attemptNo: 0 };

function filterOf(tenantId: TenantId, filter: DeadLetterFilter, state: DeadLetterState): Value[] {
  const { dagName, fingerprint, taskName, reason } = filter;
  return [
    tenantId,
    deadLetterStates.code(state),
    dagName === null ? null : encodeText(dagName),
    fingerprint,
    taskName === null ? null : encodeText(taskName),
    reason === null ? null : deadLetterReasons.code(reason),
  ];
}

async function ask(database: Database, asked: Parameters<typeof call>[0], values: Value[]): Promise<DeadLetterRow[]> {
  const [found] = await database.snapshot((send) => send([call(asked, ...values)], { last: true }));
  return (found?.rows ?? []).map(parseDeadLetter);
}

function parseDeadLetter(row: Row): DeadLetterRow {
  const [shard, runId, taskNo, attemptNo, uid, dagId, dag, versionNo, task, reason, outcome, code] = row;
  const [fingerprint, error, at, state, closedAt, closedBy, newUid] = row.slice(12);
  return {
    shard: Number(shard) as ShardNo,
    runId: Number(runId) as RunId,
    taskNo: Number(taskNo) as TaskNo,
    attemptNo: Number(attemptNo) as AttemptNo,
    uid: uid as RunUid,
    dagId: Number(dagId) as DagId,
    dagName: decodeText(dag ?? ''),
    versionNo: Number(versionNo) as VersionNo,
    taskName: decodeText(task ?? ''),
    reason: deadLetterReasons.word(Number(reason)),
    outcome: attemptOutcomes.word(Number(outcome)),
    code: decodeNullableText(code ?? null),
    fingerprint: Number(fingerprint) as Fingerprint,
    error: decodeNullableText(error ?? null),
    at: Number(at) as Instant,
    state: deadLetterStates.word(Number(state)),
    closedAt: closedAt === null || closedAt === undefined ? null : (Number(closedAt) as Instant),
    closedBy: decodeNullableText(closedBy ?? null),
    newUid: (newUid ?? null) as RunUid | null,
  };
}

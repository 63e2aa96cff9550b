/** One run with all that is known of it, and the columns of a run as people see it. */
import {
  type AttemptNo,
  type AttemptOutcome,
  type DagId,
  type DagSpec,
  type Fence,
  type Fingerprint,
  growSpec,
  type Instant,
  type LetterReason,
  limitSpec,
  type ParentRef,
  type Priority,
  type ReturnReason,
  type RunCreated,
  type RunId,
  type RunNotes,
  type RunOutcome,
  type RunPhase,
  type RunUid,
  readRunNotes,
  SHARD_COUNT,
  type ShardNo,
  type StoredMap,
  type StoredPause,
  type StoredTask,
  shardOfRun,
  shardOfUid,
  type TaskNo,
  type TaskNotes,
  type TenantId,
  type VersionNo,
  type WorkerId,
} from '@signalbox/engine';
import type { Row } from '../batch.ts';
import {
  attemptOutcomes,
  causes,
  letterReasons,
  phases,
  priorities,
  returnReasons,
  runOutcomes,
  taskStates,
} from '../codes.ts';
import type { Ask, Database } from '../database.ts';
import { findRunIds } from '../fetch.ts';
import { type KnownDays, type Leaf, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { parseAdded } from '../statements/added.ts';
import { PARAMS_TASK_NO } from '../statements/attempt.ts';
import { type MapsByRun, parseMaps, readMaps, sortMaps } from '../statements/map.ts';
import { readPauses } from '../statements/marks.ts';
import { decodeNullableText, decodeText, parseIntegers, plainArray } from '../text.ts';
import { expectResults } from '../whole-runs.ts';
import { findChildren } from './child-runs.ts';

export interface RunView {
  readonly runId: RunId;
  readonly shard: ShardNo;
  readonly uid: RunUid;
  readonly dagId: DagId;
  readonly dagName: string;
  readonly versionNo: VersionNo;
  readonly priority: Priority;
  readonly cause: RunCreated['cause'];
  readonly phase: RunPhase;
  readonly outcome: RunOutcome | null;
  readonly admitted: boolean;
  readonly setAside: boolean;
  readonly strikes: number;
  readonly strikeReason: string | null;
  readonly hasParams: boolean;
  readonly firesAt: Instant | null;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly admittedAt: Instant | null;
  readonly closingAt: Instant | null;
  readonly closedBy: string | null;
  readonly endedAt: Instant | null;
  /** When it was found to be slow, and when its time was over. */
  readonly notes: RunNotes;
  /** The call that made it. */
  readonly parent: ParentRef | null;
  /** When it was opened again after it had ended, the last time, and by whom. */
  readonly reopenedAt: Instant | null;
  readonly reopenedBy: string | null;
  /** How often its own policy did so. */
  readonly retries: number;
  /** What of it is paused. */
  readonly pauses: readonly StoredPause[];
}

export interface AttemptView {
  readonly taskNo: TaskNo;
  readonly attemptNo: AttemptNo;
  readonly fence: Fence;
  readonly workerId: WorkerId;
  readonly outcome: AttemptOutcome | null;
  readonly claimedAt: Instant;
  readonly startedAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly retryAt: Instant | null;
  readonly error: string | null;
  /** What the failure was, in a word. */
  readonly code: string | null;
  /** It began beside another attempt that took far longer than its siblings. */
  readonly speculative: boolean;
}

/** A task's row shows its newest attempt. */
export interface TaskView extends AttemptView {
  readonly state: StoredTask['state'];
  readonly lostCount: number;
  readonly returnReason: ReturnReason | null;
  readonly returnedAt: Instant | null;
  readonly hasOutput: boolean;
  /** False for one that was marked by hand after its last attempt, or before any: the row shows no attempt. */
  readonly hasAttempt: boolean;
  /** Who cleared and who marked it, the last time. */
  readonly clearedAt: Instant | null;
  readonly clearedBy: string | null;
  readonly markedAt: Instant | null;
  readonly markedBy: string | null;
  readonly facts: string | null;
  /** What the engine keeps of it: JSON. */
  readonly notes: string | null;
  /** Of its last failure. */
  readonly fingerprint: Fingerprint | null;
}

export type OutlinedTask = Pick<TaskView, 'taskNo' | 'attemptNo' | 'state' | 'facts' | 'notes'>;

/** A run with maps may have a hundred thousand tasks: which of them are wanted is said once their states can be told. */
export type RunOutline = Pick<
  RunDetails,
  'spec' | 'facts' | 'isForced' | 'phase' | 'outcome' | 'outline' | 'maps' | 'notes'
>;

export interface RunDetails extends RunView {
  readonly hash: string;
  readonly spec: DagSpec;
  readonly facts: string | null;
  readonly isForced: boolean;
  /** Those with a row that were asked for: the others are derived from the spec by the engine's `deriveTasks`. */
  readonly tasks: readonly TaskView[];
  /** All that have a row, as far as states are derived of them. */
  readonly outline: readonly OutlinedTask[];
  readonly maps: readonly StoredMap[];
  /** Of the dag: fingerprints of what they hold back, 0 for its new tasks. */
  readonly breakers: readonly number[];
  /** Open dead letters, by task: why it was given up. */
  readonly letters: ReadonlyMap<number, LetterReason>;
  /** The attempts before the newest one of each task, and those that run or ran beside it. */
  readonly supersededAttempts: readonly AttemptView[];
  /** The runs that its tasks have made, by `childKey`. */
  readonly children: ReadonlyMap<string, RunUid>;
}

export const RUN_VIEW_COLUMNS = `r.run_id, r.uid, r.dag_id, d.name, r.version_no, r.priority, r.cause, r.phase, r.outcome,
    r.admitted, r.set_aside, r.strikes, r.strike_reason, r.has_params, r.fires_at, r.created_at, r.actor, r.admitted_at,
    r.closing_at, r.closing_actor, r.ended_at, r.parent, r.reopened_at, r.reopened_by, coalesce(r.retries, 0), r.pauses::text,
    r.notes`;
const RUN_VIEW_COUNT = 27;

/** By primary key; the tenant is part of the question, so a run of another one is not there (I65). */
const selectRun = leafStatement(
  'view_run',
  (leaf) => `
  select ${RUN_VIEW_COLUMNS}, v.hash, v.spec::text, r.facts, r.forced_at is not null, r.added::text
    from ${readable('run', leaf)} r
    join dag d on d.shard = r.shard and d.dag_id = r.dag_id
    join dag_version v on v.shard = r.shard and v.dag_id = r.dag_id and v.version_no = r.version_no
   where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer`,
);

const ATTEMPT_COLUMNS = `a.task_no, a.attempt_no, a.fence, a.worker_id, a.outcome, a.claimed_at, a.started_at, a.ended_at,
    a.retry_at, a.error, a.code`;
const ATTEMPT_COUNT = 11;

/**
 * Whether it has an output is looked up task by task, by the primary key. As a join of two tables that both have the run's ten
 * thousand rows it is planned by what is known of the partition, which is nothing in its first minutes: each row with each.
 */
const taskColumns = (leaf: Leaf) => `${ATTEMPT_COLUMNS}, a.state, a.lost_count, a.return_reason, a.returned_at,
    exists (select from ${readable('payload', leaf)} p where p.shard = a.shard and p.run_id = a.run_id and p.task_no = a.task_no),
    a.facts, a.notes, a.fingerprint, a.cleared_at, a.cleared_by, a.marked_at, a.marked_by`;

const selectTasks = leafStatement(
  'view_tasks',
  (leaf) => `
  select ${taskColumns(leaf)} from ${readable('task', leaf)} a
   where a.shard = $1::smallint and a.run_id = $2::bigint order by a.task_no`,
);

/** The row of the task shows no attempt: the newest one has a row of its own. */
export const NO_ATTEMPT = `(t.outcome is null and t.state not in (${taskStates.code('running')}, ${taskStates.code('returned')}))`;
/** Column by column: a run may have a hundred thousand. */
const selectOutline = leafStatement(
  'view_outline',
  (leaf) => `
  select array_agg(task_no)::text, array_agg(attempt_no)::text, array_agg(state)::text
    from ${readable('task', leaf)} where shard = $1::smallint and run_id = $2::bigint`,
);
/** Of what is kept beside rows, all that states are derived from: which attempts hooks were to be told of, which were not retried, and what expired. */
const TELLING = `(notes like '%"slowAttempts":%' or notes like '%"doubled":%' or notes like '%"expired":%')`;
const selectFacts = leafStatement(
  'view_facts',
  (leaf) => `
  select task_no, facts, case when ${TELLING} then notes end from ${readable('task', leaf)}
   where shard = $1::smallint and run_id = $2::bigint and (facts is not null or ${TELLING})`,
);

/** Leans on the primary keys (shard, run_id, task_no …). */
const selectSomeTasks = leafStatement(
  'view_some_tasks',
  (leaf) => `
  select ${taskColumns(leaf)} from unnest($3::integer[]) as u (no)
    join ${readable('task', leaf)} a on a.shard = $1::smallint and a.run_id = $2::bigint and a.task_no = u.no
   order by a.task_no`,
);
const selectSomeAttempts = leafStatement(
  'view_some_attempts',
  (leaf) => `
  select ${ATTEMPT_COLUMNS}, a.speculative from unnest($3::integer[]) as u (no)
    join ${readable('task', leaf)} t on t.shard = $1::smallint and t.run_id = $2::bigint and t.task_no = u.no
    join ${readable('attempt', leaf)} a on a.shard = t.shard and a.run_id = t.run_id and a.task_no = t.task_no
   where a.attempt_no <> t.attempt_no or ${NO_ATTEMPT}
   order by a.task_no, a.attempt_no`,
);

const selectAttempts = leafStatement(
  'view_attempts',
  (leaf) => `
  select ${ATTEMPT_COLUMNS}, a.speculative from ${readable('attempt', leaf)} a
    cross join lateral (select outcome, state, attempt_no from ${readable('task', leaf)} b
      where b.shard = a.shard and b.run_id = a.run_id and b.task_no = a.task_no offset 0) t
   where a.shard = $1::smallint and a.run_id = $2::bigint and (a.attempt_no <> t.attempt_no or ${NO_ATTEMPT})
   order by a.task_no, a.attempt_no`,
);

/** By primary key of each. Fingerprint 0 is the dag's own. */
const selectBreakersOf = leafStatement(
  'view_breakers',
  (leaf) => `
  select b.fingerprint from ${readable('run', leaf)} r join breaker b on b.shard = r.shard and b.dag_id = r.dag_id
   where r.shard = $1::smallint and r.run_id = $2::bigint`,
);

/** Open ones, by primary key. */
const selectLettersOf = statement(
  'view_letters',
  'select task_no, reason from dead_letter where shard = $1::smallint and run_id = $2::bigint and state = 0',
);

const selectOwner = leafStatement(
  'view_run_owner',
  (leaf) =>
    `select 1 from ${readable('run', leaf)} where shard = $1::smallint and run_id = $2::bigint and tenant_id = $3::integer`,
);

const selectPayload = leafStatement(
  'view_payload',
  (leaf) => `
  select p.body from ${readable('run', leaf)} r
    join ${readable('payload', leaf)} p on p.shard = r.shard and p.run_id = r.run_id and p.task_no = $4::integer
   where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer`,
);

/** In order of the tasks, params first, for as long as the sum of their bytes is within a limit. */
const selectPayloads = leafStatement(
  'view_payloads',
  (leaf) => `
  select task_no, body from (
    select p.task_no, p.body, sum(octet_length(p.body)) over (order by p.task_no) as bytes
      from run_${leaf} r join payload_${leaf} p on p.shard = r.shard and p.run_id = r.run_id
     where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer
       and p.task_no >= -1 and ($5::integer[] is null or p.task_no = any ($5::integer[]))) p
   where bytes <= $4::bigint`,
);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Where a run is, if it is one of the tenant's. */
export async function resolveRun(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  uid: string,
): Promise<{ shard: ShardNo; runId: RunId } | null> {
  return database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, uid);
    if (runId === null) return null;
    const shard = shardOfRun(runId);
    const [owner] = await ask([call(selectOwner(leafOfRun(days, runId)), shard, runId, tenantId)], { last: true });
    return owner?.rows.length === 1 ? { shard, runId } : null;
  });
}

export async function getRun(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  uid: string,
  choose?: (outline: RunOutline) => readonly number[],
): Promise<RunDetails | null> {
  const run = await database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, uid);
    if (runId === null) return null;
    const leaf = leafOfRun(days, runId);
    const key = [shardOfRun(runId), runId];
    const [found, breakers, letters] = expectResults(
      await ask([
        call(selectRun(leaf), ...key, tenantId),
        call(selectBreakersOf(leaf), ...key),
        call(selectLettersOf, ...key),
      ]),
      3,
    );
    const row = found.rows[0];
    if (row === undefined) return null;
    const head = {
      ...parseRunView(row),
      hash: decodeText(row[RUN_VIEW_COUNT] ?? ''),
      spec: specOf(row[RUN_VIEW_COUNT + 1] ?? 'null', row[RUN_VIEW_COUNT + 4], row[RUN_VIEW_COUNT - 1]),
      facts: row[RUN_VIEW_COUNT + 2] ?? null,
      isForced: row[RUN_VIEW_COUNT + 3] === 't',
      breakers: breakers.rows.map(([fingerprint]) => Number(fingerprint)),
      letters: new Map(letters.rows.map(([taskNo, reason]) => [Number(taskNo), letterReasons.word(Number(reason))])),
    };
    if (head.spec.groups?.some(({ map }) => map !== undefined) !== true && choose === undefined) {
      const calls = [call(selectTasks(leaf), ...key), call(selectAttempts(leaf), ...key)];
      const [rows, earlier] = expectResults(await ask(calls, { last: true }), 2);
      const tasks = rows.rows.map(parseTask);
      return { ...head, tasks, outline: tasks, maps: [], supersededAttempts: othersOf(tasks, earlier.rows) };
    }
    const calls = [call(selectOutline(leaf), ...key), call(selectFacts(leaf), ...key), readMaps(leaf, [runId])];
    const [columns, facts, expansions] = expectResults(await ask(calls), 3);
    const outlined = { ...head, outline: parseOutline(columns.rows, facts.rows), maps: mapsOfRun(expansions, runId) };
    // Of a run with maps, unless told, the tasks of its spec.
    const nos = plainArray(choose?.(outlined) ?? head.spec.tasks.map((_, no) => no));
    const some = [call(selectSomeTasks(leaf), ...key, nos), call(selectSomeAttempts(leaf), ...key, nos)];
    const [rows, earlier] = expectResults(await ask(some, { last: true }), 2);
    const tasks = rows.rows.map(parseTask);
    return { ...outlined, tasks, supersededAttempts: othersOf(tasks, earlier.rows) };
  });
  return run === null ? null : { ...run, children: await findChildren(database, days, tenantId, run) };
}

/** Of the run: that of its version, as far as the run goes, and what was added to it. */
function specOf(spec: string, added: string | null | undefined, notes: string | null | undefined): DagSpec {
  const { until } = readRunNotes(notes);
  return growSpec(limitSpec(JSON.parse(spec) as DagSpec, until), parseAdded(added));
}

function parseOutline(columns: readonly Row[], facts: readonly Row[]): OutlinedTask[] {
  const texts = new Map(facts.map(([no, text, notes]) => [Number(no), [text ?? null, notes ?? null] as const]));
  const [nos, attempts, states] = [0, 1, 2].map((at) => parseIntegers(columns[0]?.[at]));
  return (nos ?? []).map((no, i) => ({
    taskNo: no as TaskNo,
    attemptNo: (attempts?.[i] ?? 0) as AttemptNo,
    state: taskStates.word(states?.[i] ?? 0),
    facts: texts.get(no)?.[0] ?? null,
    notes: texts.get(no)?.[1] ?? null,
  }));
}

function mapsOfRun(result: Parameters<typeof parseMaps>[0], runId: RunId): readonly StoredMap[] {
  const maps: MapsByRun = new Map();
  parseMaps(result, maps);
  sortMaps(maps);
  return maps.get(runId) ?? [];
}

const selectSpec = leafStatement(
  'view_run_spec',
  (leaf) => `
  select v.spec::text, r.added::text, r.notes from ${readable('run', leaf)} r
    join dag_version v on v.shard = r.shard and v.dag_id = r.dag_id and v.version_no = r.version_no
   where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer`,
);

/** What a run goes by. */
export async function getRunSpec(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  runId: RunId,
): Promise<DagSpec | null> {
  const { rows } = await database.one(call(selectSpec(leafOfRun(days, runId)), shardOfRun(runId), runId, tenantId));
  const spec = rows[0]?.[0] ?? null;
  return spec === null ? null : specOf(spec, rows[0]?.[1], rows[0]?.[2]);
}

/** What the tasks of a run are named by: its spec, and what its maps have become. */
export async function getRunMaps(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  runId: RunId,
): Promise<Pick<RunDetails, 'spec' | 'maps'> | null> {
  const leaf = leafOfRun(days, runId);
  const calls = [call(selectSpec(leaf), shardOfRun(runId), runId, tenantId), readMaps(leaf, [runId])];
  const [found, expansions] = expectResults(await database.snapshot((ask) => ask(calls, { last: true })), 2);
  const spec = found.rows[0]?.[0] ?? null;
  if (spec === null) return null;
  return { spec: specOf(spec, found.rows[0]?.[1], found.rows[0]?.[2]), maps: mapsOfRun(expansions, runId) };
}

/** The params of a run (`taskNo` null) or the output of one of its tasks. */
export async function getPayload(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { uid, taskNo }: { uid: string; taskNo: TaskNo | null },
): Promise<string | null> {
  return database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, uid);
    if (runId === null) return null;
    const key = [shardOfRun(runId), runId, tenantId, taskNo ?? PARAMS_TASK_NO];
    const [found] = await ask([call(selectPayload(leafOfRun(days, runId)), ...key)], { last: true });
    return decodeNullableText(found?.rows[0]?.[0] ?? null);
  });
}

export interface WantedPayloads {
  readonly uid: string;
  readonly bytesLimit: number;
  readonly taskNos?: readonly TaskNo[];
}

export interface RunPayloads {
  readonly params: string | null;
  /** By number of the task. */
  readonly outputs: ReadonlyMap<TaskNo, string>;
}

/** Params and outputs of a run, or outputs of some of its tasks; those beyond so many bytes in all are left out. */
export async function getPayloads(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { uid, bytesLimit, taskNos }: WantedPayloads,
): Promise<RunPayloads> {
  return database.snapshot(async (ask) => {
    const outputs = new Map<TaskNo, string>();
    const runId = await findRunId(ask, days, uid);
    if (runId === null) return { params: null, outputs };
    const some = taskNos === undefined ? null : plainArray(taskNos);
    const key = [shardOfRun(runId), runId, tenantId, bytesLimit, some];
    const [found] = await ask([call(selectPayloads(leafOfRun(days, runId)), ...key)], { last: true });
    let params: string | null = null;
    for (const [taskNo, body] of found?.rows ?? []) {
      if (Number(taskNo) === PARAMS_TASK_NO) params = decodeText(body ?? '');
      else outputs.set(Number(taskNo) as TaskNo, decodeText(body ?? ''));
    }
    return { params, outputs };
  });
}

async function findRunId(ask: Ask, days: KnownDays, uid: string): Promise<RunId | null> {
  if (!UUID.test(uid)) return null;
  const known = uid.toLowerCase() as RunUid;
  const shard = shardOfUid(known);
  if (!(shard < SHARD_COUNT)) return null;
  return (await findRunIds(ask, days, [{ shard, uid: known }]))[0] ?? null;
}

const instant = (value: string | null | undefined): Instant | null =>
  value === null || value === undefined ? null : (Number(value) as Instant);

export function parseRunView(row: Row): RunView {
  const [runId, uid, dagId, name, versionNo, priority, cause, phase, outcome, admitted, setAside, strikes, reason] =
    row;
  const [hasParams, firesAt, createdAt, actor, admittedAt, closingAt, closingActor, endedAt, parent] = row.slice(13);
  const [reopenedAt, reopenedBy, retries, pauses, notes] = row.slice(22);
  return {
    runId: Number(runId) as RunId,
    shard: shardOfRun(Number(runId) as RunId),
    uid: uid as RunUid,
    dagId: Number(dagId) as DagId,
    dagName: decodeText(name ?? ''),
    versionNo: Number(versionNo) as VersionNo,
    priority: priorities.word(Number(priority)),
    cause: causes.word(Number(cause)),
    phase: phases.word(Number(phase)),
    outcome: outcome === null || outcome === undefined ? null : runOutcomes.word(Number(outcome)),
    admitted: admitted === 't',
    setAside: setAside === 't',
    strikes: Number(strikes),
    strikeReason: decodeNullableText(reason ?? null),
    hasParams: hasParams === 't',
    firesAt: instant(firesAt),
    createdAt: Number(createdAt) as Instant,
    createdBy: decodeText(actor ?? ''),
    admittedAt: instant(admittedAt),
    closingAt: instant(closingAt),
    closedBy: decodeNullableText(closingActor ?? null),
    endedAt: instant(endedAt),
    parent: parent === null || parent === undefined ? null : (JSON.parse(parent) as ParentRef),
    reopenedAt: instant(reopenedAt),
    reopenedBy: decodeNullableText(reopenedBy ?? null),
    retries: Number(retries),
    pauses: readPauses(JSON.parse(pauses ?? 'null')),
    notes: (JSON.parse(notes ?? '{}') ?? {}) as RunNotes,
  };
}

function parseAttempt(row: Row): AttemptView {
  const [taskNo, attemptNo, fence, workerId, outcome, claimedAt, startedAt, endedAt, retryAt, error, code] = row;
  return {
    taskNo: Number(taskNo) as TaskNo,
    attemptNo: Number(attemptNo) as AttemptNo,
    fence: Number(fence) as Fence,
    workerId: workerId as WorkerId,
    outcome: outcome === null || outcome === undefined ? null : attemptOutcomes.word(Number(outcome)),
    claimedAt: Number(claimedAt) as Instant,
    startedAt: instant(startedAt),
    endedAt: instant(endedAt),
    retryAt: instant(retryAt),
    error: decodeNullableText(error ?? null),
    code: decodeNullableText(code ?? null),
    speculative: row[ATTEMPT_COUNT] === 't',
  };
}

/** Attempts with rows of their own; and those that run beside another, which are in the notes of their tasks. */
function othersOf(tasks: readonly TaskView[], rows: readonly Row[]): AttemptView[] {
  const ended = { outcome: null, startedAt: null, endedAt: null, retryAt: null, error: null, code: null } as const;
  const running = tasks.flatMap(({ taskNo, state, notes }) => {
    const { second } = state === 'running' ? notesIn(notes) : {};
    if (second === undefined || second.over !== undefined) return [];
    const { attemptNo, fence, workerId, claimedAt } = second;
    return [{ taskNo, attemptNo, fence, workerId, claimedAt, ...ended, speculative: true }];
  });
  const all = rows.map(parseAttempt);
  if (running.length === 0) return all;
  return [...all, ...running].sort((a, b) => a.taskNo - b.taskNo || a.attemptNo - b.attemptNo);
}

function notesIn(notes: string | null): TaskNotes {
  return notes === null ? {} : (JSON.parse(notes) as TaskNotes);
}

function parseTask(row: Row): TaskView {
  const [state, lostCount, returnReason, returnedAt, hasOutput, facts, notes, fingerprint, ...byHand] =
    row.slice(ATTEMPT_COUNT);
  const [clearedAt, clearedBy, markedAt, markedBy] = byHand;
  const attempt = parseAttempt(row.slice(0, ATTEMPT_COUNT));
  const kept = notesIn(notes ?? null);
  const word = taskStates.word(Number(state));
  return {
    ...attempt,
    speculative: kept.speculative === attempt.attemptNo,
    state: word,
    hasAttempt: attempt.outcome !== null || word === 'running' || word === 'returned',
    clearedAt: instant(clearedAt),
    clearedBy: decodeNullableText(clearedBy ?? null),
    markedAt: instant(markedAt),
    markedBy: decodeNullableText(markedBy ?? null),
    lostCount: Number(lostCount),
    returnReason: returnReason === null || returnReason === undefined ? null : returnReasons.word(Number(returnReason)),
    returnedAt: instant(returnedAt),
    hasOutput: hasOutput === 't',
    facts: facts ?? null,
    notes: notes ?? null,
    fingerprint: fingerprint === null || fingerprint === undefined ? null : (Number(fingerprint) as Fingerprint),
  };
}

/**
 * Reads what the commands of a batch need and the working set lacks: at most two round trips, in one snapshot, so a run
 * never arrives with tasks of another commit.
 */
import {
  type AttemptNo,
  assetKey,
  type DagId,
  type Need,
  type RunId,
  type RunUid,
  type ScheduleNeed,
  type Seen,
  type ShardNo,
  type StoredDag,
  type StoredDeadLetter,
  type StoredPast,
  type StoredRequirement,
  type StoredRun,
  type StoredSchedule,
  type StoredWindow,
  scheduleIdOf,
  shardOfRun,
  type TaskNo,
  type TenantId,
  type VersionNo,
} from '@signalbox/engine';
import type { CallResult } from './batch.ts';
import type { Ask, Database } from './database.ts';
import { byLeaf, dayOf, type KnownDays, type Leaf, leafOfRun, readable } from './leaf.ts';
import { type DagFound, type DagPlace, type PayloadKey, payloadName } from './port.ts';
import { type Call, call, leafStatement, statement } from './statement.ts';
import { PARAMS_TASK_NO } from './statements/attempt.ts';
import { parseWindowRuns, readWindowRuns } from './statements/backfill.ts';
import { checkpointNo } from './statements/checkpoint.ts';
import { parsePasts, readPasts } from './statements/past.ts';
import {
  type DagKey,
  parseDags,
  parseVersions,
  readDags,
  readDagsByName,
  readVersions,
  type VersionKey,
} from './statements/read-dag.ts';
import { parseDeadLetters, readDeadLetters } from './statements/read-dead-letter.ts';
import { parseSchedules, parseZoned, readDue, readSchedules, readZoned, walkedTo } from './statements/read-schedule.ts';
import { parseRequirements, readRequirements } from './statements/requirement.ts';
import { keyColumns } from './statements/run.ts';
import { askRows } from './tables/read-tables.ts';
import { decodeText, encodeText, plainArray, textArray } from './text.ts';
import { readWholeRuns } from './whole-runs.ts';

type NeedOf<K extends Need['kind']> = Extract<Need, { kind: K }>;

/** Leans on the index (shard, uid) of each partition it is asked of. */
const selectIdsByUid = (name: string, table: string) =>
  statement(
    name,
    `
  select r.run_id, r.uid from unnest($1::smallint[], $2::uuid[]) as u (shard, uid)
    join ${table} r on r.shard = u.shard and r.uid = u.uid`,
  );
const idsInLeaf = leafStatement('select_ids_by_uid', (leaf) => selectIdsByUid('', `run_${leaf}`).text);
const idsAnywhere = selectIdsByUid('select_ids_by_uid', 'run');

const NOTHING = {
  runs: [],
  dags: [],
  versions: [],
  schedules: [],
  deadLetters: [],
  windows: [],
  due: [],
  zoned: null,
  tables: {},
  pasts: [],
  requirements: [],
} satisfies Seen;

export async function fetchSeen(database: Database, days: KnownDays, needs: readonly Need[]): Promise<Seen> {
  if (needs.length === 0) return NOTHING;
  const of = <K extends Need['kind']>(kind: K) => needs.filter((need): need is NeedOf<K> => need.kind === kind);
  return database.snapshot(async (ask) => {
    const byUid = await findRunIds(ask, days, of('run_uid'));
    const pasts = await findPasts(ask, of('past'));
    const before = pasts.flatMap(({ found }) => (found === null ? [] : [found.runId]));
    const ids = [...new Set([...of('run').map((need) => need.runId), ...byUid, ...before])];
    const runs = await readWholeRuns(ask, days, { withTasks: ids, withoutTasks: [] });
    const deadLetters = await findDeadLetters(ask, of('deadLetter'));
    const requirements = await findRequirements(ask, of('requirement'));
    const named = of('dag_name');
    const ofNamed = named.length > 0 ? parseDags((await ask([readDagsByName(named)]))[0]!) : [];
    const walked = await walkSchedules(ask, of('due'), of('zoned'));
    const schedules = await findSchedules(ask, [...of('schedules'), ...schedulesOfNamed(named, ofNamed)]);
    const windows = await findWindows(ask, of('windows'), schedules);
    const found = {
      runs,
      deadLetters,
      pasts,
      requirements,
      windows,
      ...walked,
      schedules: [...walked.schedules, ...schedules],
    };
    const rows = askRows(of('row'));
    const dags = dagsWanted(of('dag'), of('version'), runs);
    for (const { shard, dagId } of ofNamed) dags.set(dagId, { shard, dagId });
    const versions = versionsWanted(of('version'), runs);
    if (dags.size === 0 && versions.length === 0) {
      const results = await ask(rows.calls, { last: true });
      return { ...found, dags: [], versions: [], tables: rows.parse(results) };
    }
    const { parts, results } = await readDagParts(ask, dags, versions, rows.calls);
    return { ...found, ...parts, tables: rows.parse(results) };
  });
}

/** A dag that is found by its name brings the schedules of its definition along, and those that clash with new ones. */
function schedulesOfNamed(
  needs: readonly NeedOf<'dag_name'>[],
  dags: readonly StoredDag[],
): Omit<ScheduleNeed, 'kind'>[] {
  return dags.flatMap(({ shard, dagId, name, tenantId }) => {
    const need = needs.find((one) => one.shard === shard && one.name === name && one.tenantId === tenantId);
    if (need === undefined) return [];
    const all = need.first === undefined ? {} : { first: need.first };
    return [{ shard, dagId, names: need.schedules, ofDefinition: true as const, ...all }];
  });
}

async function findSchedules(ask: Ask, needs: readonly Omit<ScheduleNeed, 'kind'>[]): Promise<StoredSchedule[]> {
  const calls = readSchedules(needs);
  if (calls.length === 0) return [];
  const found = (await ask(calls)).flatMap(parseSchedules);
  return [...new Map(found.map((schedule) => [scheduleIdOf(schedule), schedule])).values()];
}

async function walkSchedules(
  ask: Ask,
  [due]: readonly NeedOf<'due'>[],
  [zoned]: readonly NeedOf<'zoned'>[],
): Promise<Pick<Seen, 'due' | 'zoned' | 'schedules'>> {
  const calls = [...(due === undefined ? [] : [readDue(due)]), ...(zoned === undefined ? [] : [readZoned(zoned)])];
  if (calls.length === 0) return { due: [], zoned: null, schedules: [] };
  const results = await ask(calls);
  const schedules = due === undefined ? [] : parseSchedules(results[0]!);
  return {
    schedules,
    due: due === undefined ? [] : walkedTo(due, schedules),
    zoned: zoned === undefined ? null : parseZoned(zoned, results.at(-1)!),
  };
}

async function findDeadLetters(ask: Ask, deadLetters: readonly NeedOf<'deadLetter'>[]): Promise<StoredDeadLetter[]> {
  if (deadLetters.length === 0) return [];
  const [found] = await ask([readDeadLetters(deadLetters)]);
  return found === undefined ? [] : parseDeadLetters(found);
}

async function findPasts(ask: Ask, needs: readonly NeedOf<'past'>[]): Promise<StoredPast[]> {
  if (needs.length === 0) return [];
  const [found] = await ask([readPasts(needs)]);
  return found === undefined ? [] : parsePasts(found);
}

async function findRequirements(ask: Ask, needs: readonly NeedOf<'requirement'>[]): Promise<StoredRequirement[]> {
  if (needs.length === 0) return [];
  const [found] = await ask([readRequirements(needs)]);
  return found === undefined ? [] : parseRequirements(found);
}

/** Windows of a schedule that was named are found by the number that it has. */
async function findWindows(
  ask: Ask,
  windows: readonly NeedOf<'windows'>[],
  schedules: readonly StoredSchedule[],
): Promise<StoredWindow[]> {
  const numbered = windows.flatMap(({ schedule, ...need }) => {
    const isNamed = ({ dagId, name }: StoredSchedule) => dagId === need.dagId && name === schedule;
    const scheduleNo = typeof schedule === 'string' ? schedules.find(isNamed)?.scheduleNo : schedule;
    return scheduleNo === undefined ? [] : [{ ...need, scheduleNo }];
  });
  if (numbered.length === 0) return [];
  const [found] = await ask([readWindowRuns(numbered)]);
  return found === undefined ? [] : parseWindowRuns(found);
}

interface DagParts {
  readonly parts: Pick<Seen, 'dags' | 'versions'>;
  /** Of the calls that were sent before, and of these. */
  readonly results: readonly CallResult[];
}

async function readDagParts(
  ask: Ask,
  dags: ReadonlyMap<DagId, DagKey>,
  versions: readonly VersionKey[],
  before: readonly Call[] = [],
): Promise<DagParts> {
  const keys = [...dags.values()];
  const results = await ask([...before, readDags(keys), readVersions(versions, keys)], {
    last: true,
  });
  const [dagRows, versionRows] = results.slice(-2) as [CallResult, CallResult];
  const parts = {
    dags: parseDags(dagRows),
    versions: parseVersions(versionRows),
  };
  return { parts, results };
}

function dagsWanted(
  asked: readonly NeedOf<'dag'>[],
  versions: readonly NeedOf<'version'>[],
  runs: readonly StoredRun[],
): Map<DagId, DagKey> {
  const dags = new Map<DagId, DagKey>();
  for (const { shard, dagId } of [...asked, ...versions]) dags.set(dagId, { shard, dagId });
  for (const { runId, dagId } of runs) dags.set(dagId, { shard: shardOfRun(runId), dagId });
  return dags;
}

function versionsWanted(asked: readonly NeedOf<'version'>[], runs: readonly StoredRun[]): VersionKey[] {
  const ofRuns = runs.map(({ runId, dagId, versionNo }) => ({ shard: shardOfRun(runId), dagId, versionNo }));
  const byName = new Map([...asked, ...ofRuns].map((version) => [`${version.dagId}/${version.versionNo}`, version]));
  return [...byName.values()];
}

/**
 * A uid's own clock says near which day its run was created, so three partitions are asked first. Clocks may have been far
 * apart: what is not found there is looked for in all of them.
 */
export async function findRunIds(ask: Ask, days: KnownDays, uids: readonly UidKey[]): Promise<RunId[]> {
  return [...(await findRunIdsByUid(ask, days, uids)).values()];
}

interface UidKey {
  readonly shard: ShardNo;
  readonly uid: RunUid;
}

/** The same, by the uid of each. */
export async function findRunIdsByUid(
  ask: Ask,
  days: KnownDays,
  uids: readonly UidKey[],
): Promise<ReadonlyMap<string, RunId>> {
  if (uids.length === 0) return new Map();
  const near = new Map<Leaf, { shard: ShardNo; uid: RunUid }[]>();
  for (const wanted of uids) {
    const day = dayOf(millisecondsOfUid(wanted.uid));
    for (const candidate of [day - 1, day, day + 1]) {
      if (!days.run.has(candidate)) continue;
      const leaf: Leaf = `d${candidate}`;
      near.set(leaf, [...(near.get(leaf) ?? []), wanted]);
    }
  }
  const found = new Map<string, RunId>();
  const collect = (results: readonly CallResult[]) => {
    for (const { rows } of results) for (const [id, uid] of rows) found.set(uid ?? '', Number(id) as RunId);
  };
  if (near.size > 0) collect(await ask([...near].map(([leaf, list]) => call(idsInLeaf(leaf), ...uidColumns(list)))));
  const missing = uids.filter(({ uid }) => !found.has(uid.toLowerCase()));
  if (missing.length > 0) collect(await ask([call(idsAnywhere, ...uidColumns(missing))]));
  return found;
}

/** The instant in a UUID v7: the maker's clock when it was made. */
export function millisecondsOfUid(uid: RunUid): number {
  return Number.parseInt(uid.slice(0, 8) + uid.slice(9, 13), 16);
}

function uidColumns(uids: readonly { readonly shard: ShardNo; readonly uid: RunUid }[]): [string, string] {
  return [plainArray(uids.map(({ shard }) => shard)), textArray(uids.map(({ uid }) => uid))];
}

/** Leans on the primary key (shard, run_id, task_no) of the partition. */
const selectPayloads = leafStatement(
  'select_payloads',
  (leaf) => `
  select p.run_id, p.task_no, p.body from unnest($1::smallint[], $2::bigint[], $3::integer[]) as u (shard, run_id, task_no)
    join ${readable('payload', leaf)} p on p.shard = u.shard and p.run_id = u.run_id and p.task_no = u.task_no`,
);

export async function fetchPayloads(
  database: Database,
  days: KnownDays,
  keys: readonly PayloadKey[],
): Promise<Map<string, string>> {
  const payloads = new Map<string, string>();
  if (keys.length === 0) return payloads;
  const leafOf = (key: PayloadKey) => leafOfRun(days, key.runId);
  const bodies = keys.filter(({ errorOf }) => errorOf === undefined);
  const calls = [
    ...[...byLeaf(bodies, leafOf)].map(([leaf, list]) =>
      call(selectPayloads(leaf), ...keyColumns(list), plainArray(list.map(numberOf))),
    ),
    ...[...byLeaf(keys.filter(isError), leafOf)].map(([leaf, list]) => readErrors(leaf, list)),
  ];
  const names = new Map(bodies.map((key) => [`${key.runId}/${numberOf(key)}`, payloadName(key)]));
  for (const { rows } of await database.snapshot((ask) => ask(calls, { last: true }))) {
    for (const [id, number, body, attemptNo] of rows) {
      const name =
        attemptNo === undefined
          ? names.get(`${Number(id)}/${Number(number)}`)
          : errorName(Number(id), Number(number), Number(attemptNo));
      payloads.set(name ?? '', decodeText(body ?? ''));
    }
  }
  return payloads;
}

type ErrorKey = PayloadKey & { readonly errorOf: AttemptNo };

function isError(key: PayloadKey): key is ErrorKey {
  return key.errorOf !== undefined;
}

function errorName(runId: number, taskNo: number, attemptNo: number): string {
  return payloadName({ runId: runId as RunId, taskNo: taskNo as TaskNo, errorOf: attemptNo as AttemptNo });
}

/** Of the task's row for its newest attempt, unless that runs; of its own for any other. Both by primary key. */
const selectErrors = leafStatement(
  'select_errors',
  (leaf) => `
  select u.run_id, u.task_no, coalesce(a.error, t.error), u.attempt_no
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::integer[]) as u (shard, run_id, task_no, attempt_no)
    left join ${readable('attempt', leaf)} a
      on a.shard = u.shard and a.run_id = u.run_id and a.task_no = u.task_no and a.attempt_no = u.attempt_no
    left join ${readable('task', leaf)} t on t.shard = u.shard and t.run_id = u.run_id and t.task_no = u.task_no
      and t.attempt_no = u.attempt_no and t.outcome is not null
   where coalesce(a.error, t.error) is not null`,
);

function readErrors(leaf: Leaf, keys: readonly ErrorKey[]): Call {
  const numbers = plainArray(keys.map(({ taskNo }) => taskNo ?? PARAMS_TASK_NO));
  return call(selectErrors(leaf), ...keyColumns(keys), numbers, plainArray(keys.map(({ errorOf }) => errorOf)));
}

function numberOf({ taskNo, checkpoint, large }: PayloadKey): number {
  if (large !== undefined) return large;
  if (taskNo === null) return PARAMS_TASK_NO;
  return checkpoint === undefined ? taskNo : checkpointNo(taskNo);
}

/**
 * Leans on the unique index (tenant_id, name), which goes over all shards. PostgreSQL looks into no JSON that has an escaped zero
 * character; the API lets in none.
 */
const selectDagPlace = statement(
  'select_dag_place',
  `
  select d.shard, d.dag_id, d.version_no,
      case when strpos(v.spec::text, '\\u0000') > 0 then null else (v.spec->'paramsSchema')::text end
    from dag d join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no
   where d.tenant_id = $1::integer and d.name = $2::text`,
);

/** Leans on the primary key (tenant_id, event, …) of event_trigger, which has no row of a retired dag. */
const selectDagsOnAsset = statement(
  'select_dags_on_asset',
  'select shard, dag_id from event_trigger where tenant_id = $1::integer and event = $2::text order by shard, dag_id',
);

export async function dagsOnAsset(database: Database, tenantId: TenantId, asset: string): Promise<DagPlace[]> {
  const { rows } = await database.one(call(selectDagsOnAsset, tenantId, encodeText(assetKey(asset))));
  return rows.map(([shard, dagId]) => ({ shard: Number(shard) as ShardNo, dagId: Number(dagId) as DagId }));
}

export async function findDagByName(database: Database, tenantId: TenantId, name: string): Promise<DagFound | null> {
  const { rows } = await database.one(call(selectDagPlace, tenantId, encodeText(name)));
  const [row] = rows;
  if (row === undefined) return null;
  const [shard, dagId, versionNo, schema] = row;
  return {
    shard: Number(shard) as ShardNo,
    dagId: Number(dagId) as DagId,
    versionNo: Number(versionNo) as VersionNo,
    paramsSchema: JSON.parse(schema ?? 'null') as DagFound['paramsSchema'],
  };
}

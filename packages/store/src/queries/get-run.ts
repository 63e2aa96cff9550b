/** Reads one run with everything that is stored about it. For a large run, the caller chooses the tasks. */
import { type DagSpec, shardOfRun, type TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { deadLetterReasons } from '../codes.ts';
import type { Ask, Database } from '../database.ts';
import { type KnownDays, leafOfRun, readable } from '../leaf.ts';
import { call, leafStatement, statement } from '../statement.ts';
import { readMaps } from '../statements/map.ts';
import { decodeText, plainArray } from '../text.ts';
import { expectResults } from '../whole-runs.ts';
import { findChildren } from './child-runs.ts';
import type { KnownSpecs } from './known-specs.ts';
import { findRunId } from './resolve-run.ts';
import type { RunDetails, RunOutline } from './run-details.ts';
import { mapsOfRun, specOfRun } from './run-spec.ts';
import { parseRunView, RUN_VIEW_COLUMNS, RUN_VIEW_COUNT } from './run-view.ts';
import {
  othersOf,
  parseOutline,
  parseTask,
  parseUsage,
  selectAttempts,
  selectFacts,
  selectOutline,
  selectSomeAttempts,
  selectSomeTasks,
  selectTasks,
  selectUsage,
} from './task-view.ts';

/** Of the run `r`, its dag `d` and its version `v`. */
export const HEAD_COLUMNS = `${RUN_VIEW_COLUMNS}, v.hash, r.facts, r.forced_at is not null, r.added::text`;
export const HEAD_COUNT = RUN_VIEW_COUNT + 4;

/** By primary key; the tenant is part of the question, so a run of another one is not there (I65). */
const selectRun = leafStatement(
  'view_run',
  (leaf) => `
  select ${HEAD_COLUMNS}
    from ${readable('run', leaf)} r
    join dag d on d.shard = r.shard and d.dag_id = r.dag_id
    join dag_version v on v.shard = r.shard and v.dag_id = r.dag_id and v.version_no = r.version_no
   where r.shard = $1::smallint and r.run_id = $2::bigint and r.tenant_id = $3::integer`,
);

/** By primary key of each. Fingerprint 0 is the dag's own. */
const selectBreakersOf = leafStatement(
  'view_breakers',
  (leaf) => `
  select b.fingerprint from ${readable('run', leaf)} r join breaker b on b.shard = r.shard and b.dag_id = r.dag_id
   where r.shard = $1::smallint and r.run_id = $2::bigint`,
);

/** Open ones, by primary key. */
const selectDeadLettersOf = statement(
  'view_letters',
  'select task_no, reason from dead_letter where shard = $1::smallint and run_id = $2::bigint and state = 0',
);

interface Rows {
  readonly rows: readonly Row[];
}

export function withAttempts([rows, earlier, usage]: readonly [Rows, Rows, Rows]) {
  const usageOf = parseUsage(usage.rows);
  const tasks = rows.rows.map((row) => parseTask(row, usageOf));
  return { tasks, supersededAttempts: othersOf(tasks, earlier.rows, usageOf) };
}

/** What the row of a run itself says, with the spec that it goes by. */
export async function parseHead(ask: Ask, specs: KnownSpecs, row: Row) {
  const view = parseRunView(row);
  return {
    ...view,
    hash: decodeText(row[RUN_VIEW_COUNT] ?? ''),
    spec: specOfRun(await specs.read(ask, view), row[RUN_VIEW_COUNT + 3], view.notes),
    facts: row[RUN_VIEW_COUNT + 1] ?? null,
    isForced: row[RUN_VIEW_COUNT + 2] === 't',
  };
}

export function hasMaps({ groups }: Pick<DagSpec, 'groups'>): boolean {
  return groups?.some(({ map }) => map !== undefined) === true;
}

export async function getRun(
  database: Database,
  days: KnownDays,
  tenantId: TenantId,
  { uid, specs }: { readonly uid: string; readonly specs: KnownSpecs },
  choose?: (outline: RunOutline) => readonly number[],
): Promise<RunDetails | null> {
  const run = await database.snapshot(async (ask) => {
    const runId = await findRunId(ask, days, tenantId, uid);
    if (runId === null) return null;
    const leaf = leafOfRun(days, runId);
    const key = [shardOfRun(runId), runId];
    const [found, breakers, deadLetters] = expectResults(
      await ask([
        call(selectRun(leaf), ...key, tenantId),
        call(selectBreakersOf(leaf), ...key),
        call(selectDeadLettersOf, ...key),
      ]),
      3,
    );
    const row = found.rows[0];
    if (row === undefined) return null;
    const head = {
      ...(await parseHead(ask, specs, row)),
      breakers: breakers.rows.map(([fingerprint]) => Number(fingerprint)),
      deadLetters: new Map(
        deadLetters.rows.map(([taskNo, reason]) => [Number(taskNo), deadLetterReasons.word(Number(reason))]),
      ),
    };
    if (!hasMaps(head.spec) && choose === undefined) {
      const calls = [
        call(selectTasks(leaf), ...key),
        call(selectAttempts(leaf), ...key),
        call(selectUsage(leaf), ...key, null),
      ];
      const seen = withAttempts(expectResults(await ask(calls, { last: true }), 3));
      return { ...head, ...seen, outline: seen.tasks, maps: [] };
    }
    const calls = [call(selectOutline(leaf), ...key), call(selectFacts(leaf), ...key), readMaps(leaf, [runId])];
    const [columns, facts, expansions] = expectResults(await ask(calls), 3);
    const outlined = { ...head, outline: parseOutline(columns.rows, facts.rows), maps: mapsOfRun(expansions, runId) };
    // Of a run with maps, unless told, the tasks of its spec.
    const nos = plainArray(choose?.(outlined) ?? head.spec.tasks.map((_, no) => no));
    const some = [
      call(selectSomeTasks(leaf), ...key, nos),
      call(selectSomeAttempts(leaf), ...key, nos),
      call(selectUsage(leaf), ...key, nos),
    ];
    return { ...outlined, ...withAttempts(expectResults(await ask(some, { last: true }), 3)) };
  });
  return run === null ? null : { ...run, children: await findChildren(database, days, tenantId, run) };
}

/** How many runs ended, when, how and after how long, from the sums that commits keep. No run is looked at. */
import type { TenantId } from '@signalbox/engine';
import type { Row } from '../batch.ts';
import { runOutcomes } from '../codes.ts';
import type { Database } from '../database.ts';
import { type Call, call, statement } from '../statement.ts';
import { BUCKETS_PER_OCTAVE, NO_DURATION } from '../statements/rollup.ts';
import { decodeText, textArray } from '../text.ts';
import type { DagKey } from './events.ts';

type RunOutcomeWord = ReturnType<typeof runOutcomes.word>;

export interface EndedRuns {
  readonly outcome: RunOutcomeWord;
  /** They took at most this long; null for runs that were opened again. */
  readonly withinMs: number | null;
  readonly runs: number;
}
export interface EndedInHour extends EndedRuns {
  /** Hours since 1970. */
  readonly hour: number;
}
export interface EndedOfDag extends EndedRuns {
  readonly dagName: string;
}

/** Leans on the primary key (shard, dag_id, hour …). */
const selectOfDag = statement(
  'rollups_of_dag',
  `
  select k.outcome, k.bucket, k.runs, k.hour from run_rollup k
    join dag d on d.shard = k.shard and d.dag_id = k.dag_id and d.tenant_id = $3::integer
   where k.shard = $1::smallint and k.dag_id = $2::bigint and k.hour >= $4::integer and k.runs > 0`,
);

/** One descent of that key for each dag of the tenant. */
const ofTenant = `
    from dag d cross join lateral (
      select * from run_rollup k where k.shard = d.shard and k.dag_id = d.dag_id and k.hour >= $2::integer and k.runs > 0) k
   where d.tenant_id = $1::integer`;
const selectOfTenant = statement(
  'rollups_of_tenant',
  `select k.outcome, k.bucket, sum(k.runs), k.hour ${ofTenant} group by k.outcome, k.bucket, k.hour`,
);
const selectByDag = statement(
  'rollups_by_dag',
  `select k.outcome, k.bucket, sum(k.runs), d.name ${ofTenant} and ($3::text[] is null or d.name = any($3::text[]))
    group by k.outcome, k.bucket, d.name order by d.name`,
);

async function rowsOf(database: Database, one: Call): Promise<readonly Row[]> {
  const [found] = await database.run([one]);
  return found?.rows ?? [];
}

function parseEnded([outcome, bucket, runs]: Row): EndedRuns {
  const place = Number(bucket);
  return {
    outcome: runOutcomes.word(Number(outcome)),
    withinMs: place === NO_DURATION ? null : 2 ** (place / BUCKETS_PER_OCTAVE),
    runs: Number(runs),
  };
}

/** From that hour on, of one dag or of all of the tenant. */
export async function endedByHour(
  database: Database,
  tenantId: TenantId,
  { dag, fromHour }: { readonly dag: DagKey | null; readonly fromHour: number },
): Promise<EndedInHour[]> {
  const rows = await rowsOf(
    database,
    dag === null
      ? call(selectOfTenant, tenantId, fromHour)
      : call(selectOfDag, dag.shard, dag.dagId, tenantId, fromHour),
  );
  return rows.map((row) => ({ ...parseEnded(row), hour: Number(row[3]) }));
}

/** From that hour on, in order of the dags' names; null stands for all of them. */
export async function endedByDag(
  database: Database,
  tenantId: TenantId,
  { fromHour, names }: { readonly fromHour: number; readonly names: readonly string[] | null },
): Promise<EndedOfDag[]> {
  const rows = await rowsOf(database, call(selectByDag, tenantId, fromHour, names === null ? null : textArray(names)));
  return rows.map((row) => ({ ...parseEnded(row), dagName: decodeText(row[3] ?? '') }));
}

const ROWS_PER_STEP = 10_000;
/** Looks through the whole table: it has one row where `run` has many, and this happens once an hour. */
const deleteOld = statement(
  'drop_old_rollups',
  `
  with gone as (
    delete from run_rollup where ctid = any (array (
      select ctid from run_rollup where hour < $1::integer limit ${ROWS_PER_STEP}))
    returning 1)
  select count(*) from gone`,
);

/** True while there may be more. */
export async function dropOldRollups(database: Database, beforeHour: number): Promise<boolean> {
  const [row] = await rowsOf(database, call(deleteOld, beforeHour));
  return Number(row?.[0]) === ROWS_PER_STEP;
}

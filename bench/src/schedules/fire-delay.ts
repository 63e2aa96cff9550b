/**
 * How late windows were decided: from the time for which they were planned until the commit that created their runs, by the clock
 * of the database. Needs `track_commit_timestamp`, and costs the server under test nothing.
 */
import type { Cluster } from '@signalbox/e2e';
import { quantile } from '../figure.ts';

export interface FireDelay {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly min: number;
  readonly max: number;
}

/** Of windows planned in [from, until). */
export async function fireDelay(cluster: Cluster, from: number, until: number): Promise<FireDelay> {
  const { rows } = await cluster.sql.query<{ ms: string }>(
    `select extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 - fires_at as ms
       from window_decision where fires_at >= $1 and fires_at < $2 and run_id is not null`,
    [from, until],
  );
  const ms = rows.map((row) => Number(row.ms));
  const at = (q: number) => quantile(ms, q);
  return { count: ms.length, p50: at(0.5), p99: at(0.99), min: at(0), max: at(1) };
}

export async function decidedWindows(cluster: Cluster, from: number, until: number): Promise<number> {
  const { rows } = await cluster.sql.query<{ count: string }>(
    'select count(*) from window_decision where fires_at >= $1 and fires_at < $2',
    [from, until],
  );
  return Number(rows[0]?.count);
}

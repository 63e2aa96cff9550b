/** History for reads: runs that ended on the days before today, straight into the tables, as commits would have left them. */
import type { Cluster } from '@signalbox/e2e';
import { firstRunIdAt, type Instant } from '@signalbox/engine';

const DAY_MS = 86_400_000;
const SHARD_SPAN = 65_536;
const SECOND_SPAN = 4_194_304;

/** These dags share the history. */
export const DAGS = 10;
export const dagName = (no: number): string => `old-${no % DAGS}`;
/** One run of so many has failed. */
const FAILED_OF = 1_000;

interface Amount {
  readonly tasks: number;
  readonly days: number;
}

/** A day at a time, each dag in its own shard. */
export async function fillHistory(cluster: Cluster, { tasks, days }: Amount): Promise<void> {
  const client = cluster.client();
  for (let no = 0; no < DAGS; no++) {
    await client.deployDag({ name: dagName(no), tasks: [{ name: 'only', handler: 'noop' }] });
  }
  const { rows: dags } = await cluster.sql.query<{ shard: number; dag_id: string }>(
    "select shard, dag_id from dag where name like 'old-%' order by name",
  );
  const today = Math.floor(Date.now() / DAY_MS);
  const count = Math.floor(tasks / days / DAGS);
  for (let day = today - days; day < today; day++) {
    const [from, to] = [firstRunIdAt((day * DAY_MS) as Instant), firstRunIdAt(((day + 1) * DAY_MS) as Instant)];
    for (const table of ['run', 'task', 'attempt', 'attempt_usage', 'payload']) {
      await cluster.sql.query('select ensure_partition($1, $2, $3, $4)', [table, day, from, to]);
    }
    for (const [place, { shard, dag_id }] of dags.entries()) {
      // Several runs a second, if the day must hold more than it has seconds.
      const perSecond = Math.ceil(count / 80_000);
      const id = `${from} + (i / ${perSecond})::bigint * ${SECOND_SPAN} + ${shard * SHARD_SPAN + place * 5_000} + i % ${perSecond}`;
      const at = `${day * DAY_MS} + (i / ${perSecond})::bigint * 1000`;
      await insertDay(cluster, { id, at, shard, dagId: dag_id, salt: `${day}/${dag_id}`, count });
    }
  }
  await sumUp(cluster);
  // The vacuum of the server would come in the middle of the measurement.
  await cluster.sql.query('vacuum analyze run, task, run_rollup');
}

interface DayOfDag {
  /** SQL of the run's id and of its creation, by `i`. */
  readonly id: string;
  readonly at: string;
  readonly shard: number;
  readonly dagId: string;
  readonly salt: string;
  readonly count: number;
}

async function insertDay(cluster: Cluster, { id, at, shard, dagId, salt, count }: DayOfDag): Promise<void> {
  const outcome = `(i % ${FAILED_OF} = 0)::integer`;
  await cluster.sql.query(`
    insert into run (run_id, dag_id, created_at, uid, tenant_id, version_no, shard, priority, cause, phase, strikes,
                     admitted, set_aside, has_params, outcome, closing_at, ended_at, actor)
    select ${id}, ${dagId}, ${at},
           (lpad(to_hex(${at}), 12, '0') || '7' || substr(md5(i::text || '${salt}'), 1, 3) || '8' ||
            substr(md5(i::text || '${dagId}'), 4, 9) || '0000' || lpad(to_hex(${shard}), 2, '0'))::uuid,
           1, 1, ${shard}, 2, 0, 2, 0, true, false, false, ${outcome}, ${at} + 50, ${at} + 50, 'bench'
      from generate_series(0, ${count - 1}) i`);
  await cluster.sql.query(`
    insert into task (run_id, fence, claimed_at, worker_id, task_no, attempt_no, lost_count, shard, state, outcome, started_at, ended_at)
    select ${id}, 1, ${at}, '00000000-0000-7000-8000-000000000000', 0, 1, 0, ${shard}, 3, 0, ${at} + 10, ${at} + 50
      from generate_series(0, ${count - 1}) i`);
}

/** As the commits that end runs do. */
async function sumUp(cluster: Cluster): Promise<void> {
  await cluster.sql.query(`
    insert into run_rollup (shard, dag_id, hour, outcome, bucket, runs)
    select shard, dag_id, ended_at / 3600000, outcome, ceil(8 * ln(greatest(1, ended_at - created_at)::float8) / ln(2::float8)), count(*)
      from run where actor = 'bench' group by 1, 2, 3, 4, 5
    on conflict do nothing`);
}

/** Rows of `dag`, `dag_version` and `schedule`: few and rarely written, but for a schedule's `decided_until`. */
import type { DagDeployed, DagId, ScheduleSet } from '@signalbox/engine';
import type { ScheduleFold } from '../rows.ts';
import { type Call, call, statement } from '../statement.ts';
import { nullableArray, plainArray, textArray } from '../text.ts';

const upsertDags = statement(
  'upsert_dags',
  `
  insert into dag (shard, dag_id, tenant_id, name, version_no)
  select * from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::integer[])
  on conflict (shard, dag_id) do update set version_no = excluded.version_no`,
);

const insertVersions = statement(
  'insert_versions',
  `
  insert into dag_version (shard, dag_id, version_no, hash, spec, actor, at, bundle)
  select u.shard, u.dag_id, u.version_no, u.hash, u.spec::json, u.actor, u.at, u.bundle
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[])
      as u (shard, dag_id, version_no, hash, spec, actor, at, bundle)`,
);

export function deployDags(deploys: readonly DagDeployed[]): Call[] {
  // A dag deployed twice in one batch is current in its last version.
  const newest = [...new Map<DagId, DagDeployed>(deploys.map((deploy) => [deploy.dagId, deploy])).values()];
  return [
    call(
      upsertDags,
      plainArray(newest.map((dag) => dag.shard)),
      plainArray(newest.map((dag) => dag.dagId)),
      plainArray(newest.map((dag) => dag.tenantId)),
      textArray(newest.map((dag) => dag.name)),
      plainArray(newest.map((dag) => dag.versionNo)),
    ),
    call(
      insertVersions,
      plainArray(deploys.map((dag) => dag.shard)),
      plainArray(deploys.map((dag) => dag.dagId)),
      plainArray(deploys.map((dag) => dag.versionNo)),
      textArray(deploys.map((dag) => dag.hash)),
      textArray(deploys.map((dag) => JSON.stringify(dag.spec))),
      textArray(deploys.map((dag) => dag.actor)),
      plainArray(deploys.map((dag) => dag.at)),
      textArray(deploys.map((dag) => dag.spec.bundle ?? null)),
    ),
  ];
}

const upsertSchedules = statement(
  'upsert_schedules',
  `
  insert into schedule (shard, dag_id, revision, spec, paused, decided_until, actor, at)
  select u.shard, u.dag_id, u.revision, u.spec::json, u.paused, u.decided_until, u.actor, u.at
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::boolean[], $6::bigint[], $7::text[], $8::bigint[])
      as u (shard, dag_id, revision, spec, paused, decided_until, actor, at)
  on conflict (shard, dag_id) do update set revision = excluded.revision, spec = excluded.spec, paused = excluded.paused,
    decided_until = excluded.decided_until, actor = excluded.actor, at = excluded.at`,
);

/** Leans on the primary key (shard, dag_id). */
const moveSchedules = statement(
  'move_schedules',
  `
  with hit as (
    update schedule s set decided_until = greatest(s.decided_until, u.decided_until)
      from unnest($1::smallint[], $2::bigint[], $3::bigint[]) as u (shard, dag_id, decided_until)
     where s.shard = u.shard and s.dag_id = u.dag_id
    returning 1)
  select expect_rows('move_schedules', count(*), $4::integer) from hit`,
);

const deleteSchedules = statement(
  'delete_schedules',
  `
  delete from schedule s using unnest($1::smallint[], $2::bigint[]) as u (shard, dag_id)
   where s.shard = u.shard and s.dag_id = u.dag_id`,
);

export function changeSchedules(schedules: readonly ScheduleFold[]): Call[] {
  const calls: Call[] = [];
  const set = schedules.filter((schedule): schedule is ScheduleFold & { set: ScheduleSet } => schedule.set !== null);
  const removed = schedules.filter((schedule) => schedule.removed !== null);
  const moved = schedules.filter(
    ({ set, removed, decidedUntil }) => set === null && removed === null && decidedUntil !== null,
  );
  const keys = (list: readonly ScheduleFold[]) => [
    plainArray(list.map((schedule) => schedule.shard)),
    plainArray(list.map((schedule) => schedule.dagId)),
  ];
  if (removed.length > 0) calls.push(call(deleteSchedules, ...keys(removed)));
  if (set.length > 0) {
    calls.push(
      call(
        upsertSchedules,
        ...keys(set),
        plainArray(set.map((schedule) => schedule.set.revision)),
        textArray(set.map((schedule) => JSON.stringify(schedule.set.spec))),
        plainArray(set.map((schedule) => schedule.set.paused)),
        nullableArray(set.map((schedule) => schedule.decidedUntil)),
        textArray(set.map((schedule) => schedule.set.actor)),
        plainArray(set.map((schedule) => schedule.set.at)),
      ),
    );
  }
  if (moved.length > 0) {
    const until = nullableArray(moved.map((schedule) => schedule.decidedUntil));
    calls.push(call(moveSchedules, ...keys(moved), until, moved.length));
  }
  return calls;
}

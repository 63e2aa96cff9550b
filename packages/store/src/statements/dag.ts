/** Rows of `dag`, `dag_version` and `schedule`: few and rarely written, except `decided_until` of a schedule. */
import {
  type DagDeployed,
  type DagFold,
  type DagId,
  type ScheduleFold,
  type ScheduleSet,
  triggersByType,
} from '@signalbox/engine';
import { type Call, call, statement } from '../statement.ts';
import { nullableArray, plainArray, textArray } from '../text.ts';

const upsertDags = statement(
  'upsert_dags',
  `
  insert into dag (shard, dag_id, tenant_id, name, version_no, retired_at)
  select * from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::integer[], $6::bigint[])
  on conflict (shard, dag_id) do update set version_no = excluded.version_no, retired_at = excluded.retired_at`,
);

const insertVersions = statement(
  'insert_versions',
  `
  insert into dag_version (shard, dag_id, version_no, hash, spec, actor, at, bundle, files)
  select u.shard, u.dag_id, u.version_no, u.hash, u.spec::json, u.actor, u.at, u.bundle, u.files
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])
      as u (shard, dag_id, version_no, hash, spec, actor, at, bundle, files)`,
);

/** Leans on the primary key (shard, dag_id), as do the next two. */
const retireDags = statement(
  'retire_dags',
  `
  with hit as (
    update dag d set retired_at = u.retired_at from unnest($1::smallint[], $2::bigint[], $3::bigint[]) as u (shard, dag_id, retired_at)
     where d.shard = u.shard and d.dag_id = u.dag_id
    returning 1)
  select expect_rows('retire_dags', count(*), $4::integer) from hit`,
);

const deleteTriggers = statement(
  'delete_triggers',
  `
  delete from event_trigger e using unnest($1::smallint[], $2::bigint[]) as u (shard, dag_id)
   where e.shard = u.shard and e.dag_id = u.dag_id`,
);

const insertTriggers = statement(
  'insert_triggers',
  `
  insert into event_trigger (shard, dag_id, tenant_id, event, triggers)
  select u.shard, u.dag_id, u.tenant_id, u.event, u.triggers::json
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::text[]) as u (shard, dag_id, tenant_id, event, triggers)`,
);

type Deployed = DagFold & { deploy: DagDeployed };

/** The rows of dags as they are at the end of the batch; each version that came in it, also one that was replaced. */
export function changeDags(dags: readonly DagFold[], deploys: readonly DagDeployed[]): Call[] {
  const deployed = dags.filter((dag): dag is Deployed => dag.deploy !== null);
  const known = dags.filter((dag) => dag.deploy === null);
  const triggered = dags.flatMap(({ shard, dagId, triggers }) =>
    [...triggersByType(triggers?.list ?? [])].map(([event, list]) => ({
      shard,
      dagId,
      tenantId: triggers?.tenantId ?? 0,
      event,
      list,
    })),
  );
  const calls: Call[] = [];
  if (deployed.length > 0) calls.push(...deployDags(deployed, deploys));
  if (known.length > 0) {
    const retiredAts = nullableArray(known.map((dag) => dag.retiredAt));
    calls.push(call(retireDags, ...keys(known), retiredAts, known.length));
  }
  calls.push(call(deleteTriggers, ...keys(dags)));
  if (triggered.length > 0) {
    const tenants = plainArray(triggered.map(({ tenantId }) => tenantId));
    const events = textArray(triggered.map(({ event }) => event));
    const lists = textArray(triggered.map(({ list }) => JSON.stringify(list)));
    calls.push(call(insertTriggers, ...keys(triggered), tenants, events, lists));
  }
  return calls;
}

function keys(list: readonly { readonly shard: number; readonly dagId: DagId }[]): [string, string] {
  return [plainArray(list.map(({ shard }) => shard)), plainArray(list.map(({ dagId }) => dagId))];
}

function deployDags(dags: readonly Deployed[], deploys: readonly DagDeployed[]): Call[] {
  return [
    call(
      upsertDags,
      ...keys(dags),
      plainArray(dags.map(({ deploy }) => deploy.tenantId)),
      textArray(dags.map(({ deploy }) => deploy.name)),
      plainArray(dags.map(({ deploy }) => deploy.versionNo)),
      nullableArray(dags.map(({ retiredAt }) => retiredAt)),
    ),
    call(
      insertVersions,
      ...keys(deploys),
      plainArray(deploys.map((dag) => dag.versionNo)),
      textArray(deploys.map((dag) => dag.hash)),
      textArray(deploys.map((dag) => JSON.stringify(dag.spec))),
      textArray(deploys.map((dag) => dag.actor)),
      plainArray(deploys.map((dag) => dag.at)),
      textArray(deploys.map((dag) => dag.spec.bundle ?? null)),
      textArray(deploys.map((dag) => dag.spec.files ?? null)),
    ),
  ];
}

const upsertSchedules = statement(
  'upsert_schedules',
  `
  insert into schedule (shard, dag_id, revision, spec, paused, decided_until, actor, at, fault)
  select u.shard, u.dag_id, u.revision, u.spec::json, u.paused, u.decided_until, u.actor, u.at, u.fault
    from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[], $5::boolean[], $6::bigint[], $7::text[], $8::bigint[], $9::text[])
      as u (shard, dag_id, revision, spec, paused, decided_until, actor, at, fault)
  on conflict (shard, dag_id) do update set revision = excluded.revision, spec = excluded.spec, paused = excluded.paused,
    decided_until = excluded.decided_until, actor = excluded.actor, at = excluded.at, fault = excluded.fault`,
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

/** What a removed schedule has decided stays decided: the next one begins after it. */
const keepWindows = statement(
  'keep_windows',
  `
  with hit as (
    update dag d set windows_until = greatest(d.windows_until, u.until)
      from unnest($1::smallint[], $2::bigint[], $3::bigint[]) as u (shard, dag_id, until)
     where d.shard = u.shard and d.dag_id = u.dag_id
    returning 1)
  select expect_rows('keep_windows', count(*), $4::integer) from hit`,
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
  const left = schedules.filter(({ removedUntil }) => removedUntil !== null);
  if (left.length > 0) {
    const until = nullableArray(left.map(({ removedUntil }) => removedUntil));
    calls.push(call(keepWindows, ...keys(left), until, left.length));
  }
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
        textArray(set.map((schedule) => schedule.set.fault)),
      ),
    );
  }
  if (moved.length > 0) {
    const until = nullableArray(moved.map((schedule) => schedule.decidedUntil));
    calls.push(call(moveSchedules, ...keys(moved), until, moved.length));
  }
  return calls;
}

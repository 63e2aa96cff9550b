/** Rows of `dag` and `dag_version`: few and rarely written. */
import type { DagDeployed, DagFold, DagId } from '@signalbox/engine';
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
  insert into event_trigger (shard, dag_id, tenant_id, event)
  select * from unnest($1::smallint[], $2::bigint[], $3::integer[], $4::text[])`,
);

type Deployed = DagFold & { deploy: DagDeployed };
type Triggered = DagFold & { trigger: NonNullable<DagFold['trigger']> };

/** The rows of dags as they are at the end of the batch; each version that came in it, also one that was replaced. */
export function changeDags(dags: readonly DagFold[], deploys: readonly DagDeployed[]): Call[] {
  const deployed = dags.filter((dag): dag is Deployed => dag.deploy !== null);
  const known = dags.filter((dag) => dag.deploy === null);
  const triggered = dags.filter((dag): dag is Triggered => dag.trigger !== null);
  const calls: Call[] = [];
  if (deployed.length > 0) calls.push(...deployDags(deployed, deploys));
  if (known.length > 0) {
    const retiredAts = nullableArray(known.map((dag) => dag.retiredAt));
    calls.push(call(retireDags, ...keys(known), retiredAts, known.length));
  }
  calls.push(call(deleteTriggers, ...keys(dags)));
  if (triggered.length > 0) {
    const tenants = plainArray(triggered.map((dag) => dag.trigger.tenantId));
    const events = textArray(triggered.map((dag) => dag.trigger.event));
    calls.push(call(insertTriggers, ...keys(triggered), tenants, events));
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

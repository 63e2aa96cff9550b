import type { DagSpec } from '../dag/spec.ts';
import type { Actor, DagId, Instant, ShardNo, TenantId, VersionNo } from '../ids.ts';
import { type EventTrigger, triggersOf } from '../trigger/event-trigger.ts';
import { watchedBy } from '../trigger/watched-by.ts';
import { type ChangeOf, defineChange } from './define.ts';
import { f } from './fields.ts';

const dagDeployed = defineChange('DagDeployed', {
  no: 0,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    name: f.text(),
    versionNo: f.uint<VersionNo>(),
    hash: f.text(),
    spec: f.json<DagSpec>(),
    actor: f.text<Actor>(),
    at: f.instant,
  },
  rows(change, rows: DagRows) {
    rows.deploys.push(change);
    const { tenantId, spec } = change;
    const triggers = { tenantId, list: watchedBy(spec) };
    Object.assign(dagOf(rows, change), { deploy: change, retiredAt: null, triggers });
  },
  event: ({ versionNo: version, hash, actor }) => ({ kind: 'dag.deployed', details: { version, hash, actor } }),
});

/** No new runs from here on; live ones go on. The schedule of the dag goes by a change of its own, in the same commit. */
const dagRetired = defineChange('DagRetired', {
  no: 15,
  fields: { shard: f.uint<ShardNo>(), dagId: f.uint<DagId>(), actor: f.text<Actor>(), at: f.instant },
  rows(change, rows: DagRows) {
    Object.assign(dagOf(rows, change), { retiredAt: change.at, triggers: null });
  },
  event: ({ actor }) => ({ kind: 'dag.retired', details: { actor } }),
});

/** A retired dag was deployed unchanged: it is back in the version that it had. Another version comes as `DagDeployed`. */
const dagRevived = defineChange('DagRevived', {
  no: 16,
  fields: {
    shard: f.uint<ShardNo>(),
    tenantId: f.uint<TenantId>(),
    dagId: f.uint<DagId>(),
    /** The event that starts runs of the dag, where it has one trigger without a condition. */
    event: f.nullable(f.text()),
    actor: f.text<Actor>(),
    at: f.instant,
    /** All triggers of the dag, where `event` does not say it all. */
    triggers: f.since(5, f.optional(f.json<readonly EventTrigger[]>())),
  },
  rows(change, rows: DagRows) {
    const { tenantId, event, triggers: on = event === null ? undefined : { event } } = change;
    const list = triggersOf(on === undefined ? {} : { on });
    Object.assign(dagOf(rows, change), { retiredAt: null, triggers: { tenantId, list } });
  },
  event: ({ actor }) => ({ kind: 'dag.deployed', details: { revived: true, actor } }),
});

/** The changes of one dag in a batch, folded. */
export interface DagFold {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  deploy: DagDeployed | null;
  retiredAt: Instant | null;
  /** What starts runs of the dag, from here on. */
  triggers: { readonly tenantId: TenantId; readonly list: readonly EventTrigger[] } | null;
}

export interface DagRows {
  readonly deploys: DagDeployed[];
  readonly dags: Map<DagId, DagFold>;
}

function dagOf({ dags }: DagRows, { shard, dagId }: { shard: ShardNo; dagId: DagId }): DagFold {
  let dag = dags.get(dagId);
  if (dag === undefined) {
    dag = { shard, dagId, deploy: null, retiredAt: null, triggers: null };
    dags.set(dagId, dag);
  }
  return dag;
}

export interface DagDeployed extends ChangeOf<typeof dagDeployed> {}
export interface DagRetired extends ChangeOf<typeof dagRetired> {}
export interface DagRevived extends ChangeOf<typeof dagRevived> {}
export type DagChange = DagDeployed | DagRetired | DagRevived;

export const dagChanges = [dagDeployed, dagRetired, dagRevived] as const;

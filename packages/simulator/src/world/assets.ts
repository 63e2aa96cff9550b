/** What tasks produce, and which dags wait for it, drawn. */
import type { Actor, Command, DagSpec, EventTrigger, ShardNo, TenantId } from '@signalbox/engine';
import type { Chance } from './chance.ts';

const assetOf = (no: number): string => `asset${no}`;

/** A dag waits only for what dags before it produce, and only if it calls none of them: nothing goes round in circles. */
export function planAssets(chance: Chance, spec: DagSpec, no: number): DagSpec {
  const produces = chance.happens(0.5) ? planProduced(chance, spec, no) : spec;
  const calls = spec.tasks.some(({ child }) => child !== undefined);
  if (no === 0 || calls || !chance.happens(0.5)) return produces;
  const names = Array.from({ length: no }, (_, before) => assetOf(before)).filter(() => chance.happens(0.7));
  if (names.length === 0) return produces;
  const assets = { mode: chance.pick(['all', 'any'] as const), names };
  const on: readonly EventTrigger[] = [{ name: 'assets', type: 'asset', assets }];
  return { ...produces, on };
}

function planProduced(chance: Chance, spec: DagSpec, no: number): DagSpec {
  // Tasks in groups may be mapped, and what closes a run is not what it is for.
  const own = spec.tasks.filter(({ group, teardown, undoes, hook }) => {
    return group === undefined && teardown === undefined && undoes === undefined && hook === undefined;
  });
  if (own.length === 0) return spec;
  const chosen = chance.pick(own);
  return { ...spec, tasks: spec.tasks.map((task) => (task === chosen ? { ...task, produces: [assetOf(no)] } : task)) };
}

/** Somebody says that an asset is fresh. */
export function planAssetByHand(chance: Chance, tenantId: TenantId, actor: Actor): Command {
  const shard = chance.int(0, 63) as ShardNo;
  return { kind: 'ProduceAsset', shard, tenantId, name: assetOf(chance.int(0, 2)), actor };
}

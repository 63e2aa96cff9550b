/**
 * Triggers that wait for assets. Word of an asset may come more than once, and late: what was taken from a shard up to a number is
 * never taken again, so each time that an asset was produced it is part of one run at most. A run is created when all assets of the
 * trigger are fresh, or any is; after that they are not, until they are produced again.
 */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { AssetInputs, AssetSource, AssetTriggerSpec } from '../../model/asset.ts';
import { bitsOf } from '../../model/chance.ts';
import { assetInputs } from '../../model/change/asset.ts';
import type { TakeAsset } from '../../model/command.ts';
import { type Actor, makeRunUid, type RunUid } from '../../model/ids.ts';
import { hashOf } from '../../model/schedule/spread.ts';
import { triggersOf } from '../../model/trigger/event-trigger.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { mayCreate } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { createRun } from '../run/create.ts';
import { takenKey } from '../run/key-policy.ts';

const ASSET = 'asset' as Actor;

export function takeAsset(recorder: Recorder, command: TakeAsset): Answer {
  const dag = recorder.state.dags.get(command.dagId);
  if (dag === undefined || dag.tenantId !== command.tenantId) return refuse('DAG_NOT_FOUND');
  if (dag.isRetired) return DONE;
  for (const { name, assets } of triggersOf(dag.current.spec)) {
    if (assets?.names.includes(command.asset.name) === true) take(recorder, dag, { trigger: name, ...assets }, command);
  }
  return DONE;
}

function take(
  recorder: Recorder,
  dag: Dag,
  { trigger, mode, names }: AssetTriggerSpec & { readonly trigger: string },
  { from, asset }: TakeAsset,
): void {
  const { state } = recorder;
  const { shard, id: dagId } = dag;
  const known = state.rows.get(assetInputs, { shard, dagId, trigger })?.inputs ?? {};
  const { taken = {}, fresh: before = null } = known[asset.name] ?? {};
  if ((taken[from] ?? 0) >= asset.no) return;
  const source: AssetSource = { ...asset, shard: from };
  // Of two shards that produce it, the later one counts.
  const fresh = before !== null && before.at > source.at ? before : source;
  const inputs: AssetInputs = { ...known, [asset.name]: { taken: { ...taken, [from]: asset.no }, fresh } };
  const sources = names.flatMap((name) => inputs[name]?.fresh ?? []);
  const isReady = mode === 'any' || sources.length === names.length;
  const record = (to: AssetInputs) =>
    recorder.record({ kind: 'AssetTaken', shard, dagId, trigger, inputs: to, at: state.now });
  if (!isReady) return record(inputs);
  const params = dag.current.spec.defaultParams ?? null;
  if (takenKey(state, dag, dag.current, params) !== null) return record(used(inputs));
  // It stays fresh, and is part of the next run that there is room for.
  if (!mayCreate(recorder, dag)) return record(inputs);
  createRun(recorder, dag, {
    uid: uidOf(dag, trigger, source),
    priority: dag.current.spec.priority,
    cause: 'event',
    firesAt: null,
    params,
    actor: ASSET,
    assets: sources,
  });
  record(used(inputs));
}

/** Nothing is fresh any more. */
function used(inputs: AssetInputs): AssetInputs {
  return Object.fromEntries(Object.entries(inputs).map(([name, { taken }]) => [name, { taken, fresh: null }]));
}

/** Follows from what has completed the set: that is taken once. */
function uidOf({ shard, id }: Dag, trigger: string, { name, shard: from, no, at }: AssetSource): RunUid {
  const which = [hashOf(`${trigger}/${name}`), from, no] as const;
  return makeRunUid(shard, at, bitsOf(48, id, ...which, 31), bitsOf(26, id, ...which, 32));
}

/**
 * An asset is fresh. The commit that says so is the message to all dags that wait for it: their shards are told until they have
 * answered (D10). Only the newest state of an asset is told: what was produced twice before anybody heard of it is fresh once.
 */
import { type Answer, DONE } from '../../model/answer.ts';
import { assets } from '../../model/change/asset.ts';
import type { AssetProduced } from '../../model/change.ts';
import type { NoteAssetTold, ProduceAsset } from '../../model/command.ts';
import { type Actor, type RunRow, shardOfRun } from '../../model/ids.ts';
import type { AssetRef } from '../../tables/asset/untold-assets.ts';
import type { Recorder } from '../recorder.ts';

/** Assets that one tick tells of. */
const AT_ONCE = 100;
const TASK = 'task' as Actor;

/** With the end of a task that has succeeded. */
export function produceAssets(recorder: Recorder, run: RunRow, task: string, names: readonly string[]): void {
  const { runs } = recorder.state;
  const runId = runs.id[run]!;
  const { tenantId, name: dag } = runs.versionOf(run).dag;
  const by = { runId, run: runs.uidOf(run), dag, task, actor: TASK };
  for (const name of names) produce(recorder, { shard: shardOfRun(runId), tenantId, name }, by);
}

/** By hand. */
export function produceAsset(recorder: Recorder, { shard, tenantId, name, actor }: ProduceAsset): Answer {
  produce(recorder, { shard, tenantId, name }, { run: null, dag: null, task: null, actor });
  return DONE;
}

function produce(
  recorder: Recorder,
  ref: AssetRef,
  by: Pick<AssetProduced, 'runId' | 'run' | 'dag' | 'task' | 'actor'>,
): void {
  const { state } = recorder;
  const no = (state.rows.get(assets, ref)?.no ?? 0) + 1;
  recorder.record({ kind: 'AssetProduced', ...ref, no, ...by, at: state.now });
  tell(recorder, ref);
}

/** With a tick: what has not been answered, and what a new owner finds. */
export function tellAssets(recorder: Recorder): void {
  const { untold, mono } = recorder.state;
  if (!untold.isUsed) return;
  for (const ref of untold.due(mono, AT_ONCE)) tell(recorder, ref);
}

function tell(recorder: Recorder, ref: AssetRef): void {
  const { state } = recorder;
  const { shard, tenantId, ...asset } = state.rows.get(assets, ref)!;
  recorder.send({ kind: 'TellAsset', shard, tenantId, asset });
  state.untold.watch(ref, state.mono + state.settings.askChildMs);
}

export function noteAssetTold(recorder: Recorder, { shard, tenantId, name, no }: NoteAssetTold): Answer {
  const { state } = recorder;
  // An older word, or one of another owner: the newer one was sent, too.
  if (state.rows.get(assets, { shard, tenantId, name })?.no !== no || !state.untold.has({ shard, tenantId, name }))
    return DONE;
  recorder.record({ kind: 'AssetTold', shard, tenantId, name, no, at: state.now });
  return DONE;
}

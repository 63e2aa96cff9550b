/** Assets: what tasks produce, and what makes runs of other dags begin. See `decide/asset/`. */
import type { Instant, RunUid, ShardNo } from './ids.ts';

/** When an asset was produced last, as its shard tells it. Of one that somebody declared fresh by hand there is no run. */
export interface AssetState {
  readonly name: string;
  /** How often this shard has produced it. */
  readonly no: number;
  readonly run: RunUid | null;
  readonly dag: string | null;
  readonly task: string | null;
  readonly at: Instant;
}

/** What a run was created by: one for each asset that was fresh. */
export interface AssetSource extends AssetState {
  /** Where it was produced. */
  readonly shard: ShardNo;
}

/** What a trigger knows of one of its assets. */
export interface AssetInput {
  /** The last number that was taken from each shard: whatever comes again is not fresh. */
  readonly taken: Readonly<Record<string, number>>;
  /** Null: no run is left to be created by it. */
  readonly fresh: AssetSource | null;
}

/** By the name of the asset. */
export type AssetInputs = Readonly<Record<string, AssetInput>>;

/** A dag runs when all of them are fresh, or any of them is. */
export interface AssetTriggerSpec {
  readonly mode: 'all' | 'any';
  readonly names: readonly string[];
}

/** Under this the triggers of an asset are found, beside those of events. No type of an event has a blank. */
export const assetKey = (name: string): string => `asset ${name}`;

/** Commands about assets. The first comes from people, the others from owners of shards. */
import type { AssetState } from '../asset.ts';
import type { Actor, DagId, ShardNo, TenantId } from '../ids.ts';

/** Somebody says that an asset is fresh. */
export interface ProduceAsset {
  readonly kind: 'ProduceAsset';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly actor: Actor;
}

/** Tells a dag that an asset which it waits for is fresh. Comes again until it is answered. */
export interface TakeAsset {
  readonly kind: 'TakeAsset';
  /** Of the dag. */
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  /** Where it was produced. */
  readonly from: ShardNo;
  readonly asset: AssetState;
}

/** All dags that wait for the asset have answered. */
export interface NoteAssetTold {
  readonly kind: 'NoteAssetTold';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly no: number;
}

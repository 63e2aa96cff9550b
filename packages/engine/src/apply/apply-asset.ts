import { assets, assetsTold } from '../model/change/asset.ts';
import type { AssetChange, StoredAsset, StoredAssetTold } from '../model/change.ts';
import { watchUntold } from '../tables/asset/watch-untold.ts';
import type { State } from '../tables/state.ts';
import { applyRows } from './apply-rows.ts';

export function applyAsset(state: State, change: AssetChange): void {
  applyRows(state, change);
  if (change.kind !== 'AssetTaken') watchUntold(state, change);
}

export function restoreAsset(state: State, row: StoredAsset): void {
  state.rows.keep(assets, row);
  watchUntold(state, row);
}

export function restoreAssetTold(state: State, row: StoredAssetTold): void {
  state.rows.keep(assetsTold, row);
  watchUntold(state, row);
}

import { assets, assetsTold } from '../../model/change/asset.ts';
import type { State } from '../state.ts';
import type { AssetRef } from './untold-assets.ts';

/** Told at the next tick, unless all have heard of it. */
export function watchUntold(state: State, ref: AssetRef): void {
  const no = state.rows.get(assets, ref)?.no ?? 0;
  if (no > (state.rows.get(assetsTold, ref)?.no ?? 0)) state.untold.watch(ref, state.mono);
  else state.untold.remove(ref);
}

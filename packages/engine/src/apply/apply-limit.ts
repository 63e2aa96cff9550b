import { grants, holds, limits } from '../model/change/limit.ts';
import type { LimitChange, StoredGrant, StoredHold, StoredLimit } from '../model/change.ts';
import { isKept } from '../model/limit.ts';
import type { Hold } from '../tables/limit/hold.ts';
import { usedUnder } from '../tables/limit/used-under.ts';
import { holdsOf } from '../tables/queue/enqueue.ts';
import type { State } from '../tables/state.ts';
import { applyRows } from './apply-rows.ts';

export function applyLimit(state: State, change: LimitChange): void {
  applyRows(state, change);
  if (change.kind === 'LimitSet') setLimit(state, change);
  else if (change.kind === 'SlotsGranted') setGrant(state, change);
  else setHold(state, change);
}

export function restoreLimit(state: State, row: StoredLimit): void {
  state.rows.keep(limits, row);
  setLimit(state, row);
}

export function restoreGrant(state: State, row: StoredGrant): void {
  state.rows.keep(grants, row);
  setGrant(state, row);
  const home = state.limits.home(row.shard, row.limit);
  home.isNew = true;
  state.limits.wake(home, state.mono);
}

export function restoreHold(state: State, row: StoredHold): void {
  state.rows.keep(holds, row);
  setHold(state, row);
}

function setLimit({ limits: table }: State, { shard, limit, slots, no, sinceNo }: StoredLimit): void {
  Object.assign(table.home(shard, limit), { slots, no, sinceNo });
}

function setGrant({ limits: table }: State, row: StoredGrant): void {
  const { shard, limit, holder, given, seized, returned, heardNo } = row;
  Object.assign(table.home(shard, limit).grant(holder), { given, seized, returned, heardNo, isStored: true });
}

function setHold(state: State, { shard, limit, no, isLimited, taken, seized, returned }: StoredHold): void {
  const known = state.limits.find(shard, limit);
  const wasLimited = known?.isLimited;
  const hold = known ?? state.limits.hold(shard, limit);
  Object.assign(hold, { no, isLimited, taken, seized, returned });
  // Lanes are under what is left of kept slots, and under a rate, only while there is one.
  const isApart = isKept(limit) || hold.countsStarts;
  if (known === undefined || (isApart && wasLimited !== isLimited)) attach(state, hold);
  hold.settle();
}

/** Tasks that wait and run already are under the limit, too. */
function attach(state: State, hold: Hold): void {
  for (const dag of state.dags.byId.values()) {
    if (dag.shard !== hold.shard) continue;
    for (const lanes of dag.lanes.values()) for (const lane of lanes) lane?.setHolds(holdsOf(state, dag, lane));
  }
  const isApart = isKept(hold.name) || hold.countsStarts;
  hold.used = isApart && !hold.isLimited ? 0 : usedUnder(state, hold);
}

import { assert } from '../model/assert.ts';
import { isLiveBackfill } from '../model/backfill.ts';
import type { BackfillMoved, BackfillSet, BackfillStarted, StoredBackfill } from '../model/change.ts';
import { Backfill } from '../tables/backfill/backfill.ts';
import type { State } from '../tables/state.ts';

export function applyBackfill(state: State, change: BackfillStarted | BackfillMoved | BackfillSet): void {
  const known = state.backfills.get(change.uid);
  if (change.kind === 'BackfillStarted') {
    assert(known === undefined, 'a backfill is started once');
    const { shard, uid, tenantId, dagId, spec, actor } = change;
    const fresh = { state: 'running', cursorAt: null, isDone: false, createdCount: 0, skippedCount: 0 } as const;
    state.backfills.set(uid, new Backfill({ shard, uid, tenantId, dagId, spec, actor, ...fresh, liveRuns: 0 }));
    return;
  }
  assert(known !== undefined && isLiveBackfill(known.state), `${change.kind} is about a live backfill`);
  state.agenda.backfills.add(known);
  if (change.kind === 'BackfillSet') {
    known.state = change.state;
    if (!isLiveBackfill(change.state)) known.overIn = state.batchNo;
    return;
  }
  assert(!known.isDone, 'a backfill that is done moves no more');
  known.cursorAt = change.cursorAt;
  known.createdCount = change.createdCount;
  known.skippedCount = change.skippedCount;
  known.isDone = change.isDone;
}

export function restoreBackfill(state: State, stored: StoredBackfill): void {
  const backfill = new Backfill(stored);
  state.backfills.set(stored.uid, backfill);
  // A node that died between two steps may have left one with nothing to do but end.
  state.agenda.backfills.add(backfill);
}

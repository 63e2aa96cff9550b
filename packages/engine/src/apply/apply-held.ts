import { assert } from '../model/assert.ts';
import type { EventHeld, EventsReleased, StoredHeldEvent } from '../model/change.ts';
import type { State } from '../tables/state.ts';
import { watchHeld } from '../tables/trigger/watch-held.ts';

export function applyHeld(state: State, change: EventHeld | EventsReleased): void {
  const known = state.held.get(change);
  if (change.kind === 'EventsReleased') {
    assert(known?.uid === change.uid, 'events that wait are released once, for the run that they were told (I10)');
    return state.held.remove(known);
  }
  assert(change.eventNo === (known?.eventCount ?? 0), 'events that wait together are counted one by one');
  assert(known === undefined || known.uid === change.uid, 'events that wait together are for one run');
  const { shard, tenantId, dagId, trigger, groupKey, uid, openedAt, isDebounced, actor, firesAt, params } = change;
  const held =
    known ??
    state.held.add({
      ...{ shard, tenantId, dagId, trigger, groupKey, uid, openedAt, isDebounced, actor, firesAt },
      heldAt: change.at,
      eventCount: 0,
      params: [],
    });
  [held.heldAt, held.openedAt, held.firesAt] = [change.at, openedAt, firesAt];
  held.eventCount += 1;
  held.params = isDebounced ? [params] : [...held.params, params];
  watchHeld(state, held);
}

/** Events come in their order. Of debounced ones only the last has a row. */
export function restoreHeld(state: State, { eventNo, params, ...event }: StoredHeldEvent): void {
  const held = state.held.get(event) ?? state.held.add({ ...event, eventCount: 0, params: [] });
  [held.heldAt, held.openedAt, held.firesAt] = [event.heldAt, event.openedAt, event.firesAt];
  held.eventCount = eventNo + 1;
  held.params = [...held.params, params];
  watchHeld(state, held);
}

/** Makes the run of events that have waited. */
import { assert } from '../../model/assert.ts';
import type { HeldEvents } from '../../tables/trigger/held-events.ts';
import type { Recorder } from '../recorder.ts';
import { createRun } from '../run/create.ts';

export function releaseHeld(recorder: Recorder, held: HeldEvents): void {
  const { state } = recorder;
  const dag = state.dags.get(held.dagId);
  assert(dag !== undefined, 'a dag whose events wait is in memory');
  const { shard, dagId, trigger, groupKey, uid, eventCount, actor } = held;
  const params = held.isDebounced ? (held.params.at(-1) ?? null) : joinEvents(held.params);
  createRun(recorder, dag, {
    uid,
    priority: dag.current.spec.priority,
    cause: 'event',
    firesAt: null,
    params,
    actor,
  });
  recorder.record({ kind: 'EventsReleased', shard, dagId, trigger, groupKey, uid, eventCount, at: state.now });
}

/** Before a dag is retired: what was accepted gets its run (I10). */
export function releaseAllOf(recorder: Recorder, dagId: HeldEvents['dagId']): void {
  for (const held of recorder.state.held.of(dagId)) releaseHeld(recorder, held);
}

/** Each text is `{ events: [one], … }`. The other fields are those of the last. */
function joinEvents(texts: readonly (string | null)[]): string {
  const all = texts.map((text) => (text === null || text === '' ? {} : (JSON.parse(text) as { events?: unknown[] })));
  return JSON.stringify({ ...all.at(-1), events: all.flatMap(({ events = [] }) => events) });
}

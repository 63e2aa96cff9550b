/**
 * Triggers with `batch` or `debounce`: an event waits, and one run is made of several. The uid of that run is fixed with the
 * first event, so each event is answered with the run that it will be in (I10, I11). A batch fires when it is full or its time
 * is over; a debounced event when no other has come for a while.
 */
import { type Answer, refuse } from '../../model/answer.ts';
import type { HoldEvent } from '../../model/command.ts';
import { type Instant, nextRunId, type RunUid } from '../../model/ids.ts';
import { keyName } from '../../model/key-name.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import type { HeldEvents } from '../../tables/trigger/held-events.ts';
import { askQuota, takeRuns } from '../quota/ask-quota.ts';
import type { Recorder } from '../recorder.ts';
import { areChecked } from '../run/create.ts';
import { releaseHeld } from './release-held.ts';

/** Of one dag, so that a dag can be retired in one step. The oldest fires early when there are more. */
export const MAX_HELD_GROUPS = 1_000;
/** Of one batch: its run has all of it as params. The batch fires early when there would be more. */
export const MAX_HELD_CHARS = 200 * 1_024;

/** The operation of its keys. They have no run yet, unlike those of submissions. */
export const HELD = 'event';

export function holdEvent(recorder: Recorder, command: HoldEvent): Answer {
  const { state } = recorder;
  const dag = state.dags.get(command.dagId);
  if (dag === undefined || dag.tenantId !== command.tenantId) return refuse('DAG_NOT_FOUND');
  const name = keyName({ ...command, operation: HELD, target: dag.id, key: command.key.key });
  const earlier = state.recentKeys.get(name)?.stored ?? recorder.keys.get(name);
  if (earlier !== undefined) {
    if (earlier.bodyHash !== command.key.bodyHash) return refuse('IDEMPOTENCY_CONFLICT', command.key.key);
    return { ok: true, kind: 'held', uid: earlier.uid };
  }
  if (dag.isRetired) return refuse('DAG_NOT_FOUND', dag.name);
  if (!areChecked(dag, command.checkedFor)) return refuse('PARAMS_UNCHECKED', String(dag.current.no));
  const asked = askQuota(recorder, command, 'submits');
  if (asked !== null) return asked;
  const open = makeRoom(recorder, command);
  const refused = open === undefined ? takeRuns(recorder, dag) : null;
  if (refused !== null) return refused;
  const held = hold(recorder, dag, command, open);
  storeKey(recorder, command, held);
  if (command.rule.of === 'batch' && held.eventCount >= command.rule.max) releaseHeld(recorder, held);
  return { ok: true, kind: 'held', uid: held.uid };
}

/** The events that this one joins. What is too large for another event fires first. */
function makeRoom(recorder: Recorder, { dagId, trigger, groupKey, params, rule }: HoldEvent): HeldEvents | undefined {
  const { held } = recorder.state;
  const open = held.get({ dagId, trigger, groupKey });
  if (open === undefined) {
    const oldest = held.countOf(dagId) >= MAX_HELD_GROUPS ? held.of(dagId)[0] : undefined;
    if (oldest !== undefined) releaseHeld(recorder, oldest);
    return undefined;
  }
  // The trigger was deployed with another rule since: what waits by the old one is not mixed with it.
  const isOther = open.isDebounced !== (rule.of === 'debounce');
  const chars = open.params.reduce((sum, text) => sum + (text?.length ?? 0), params?.length ?? 0);
  if (!isOther && (open.isDebounced || chars <= MAX_HELD_CHARS)) return open;
  releaseHeld(recorder, open);
  return undefined;
}

function hold(recorder: Recorder, dag: Dag, command: HoldEvent, open: HeldEvents | undefined): HeldEvents {
  const { state } = recorder;
  const { trigger, groupKey, params, rule, actor } = command;
  // All by the clock of now: since the first event came the clock may have been set, or be another owner's (I53).
  const openForMs = open === undefined ? 0 : Math.max(0, Math.round(state.mono - open.openedMono));
  recorder.record({
    kind: 'EventHeld',
    shard: dag.shard,
    dagId: dag.id,
    tenantId: dag.tenantId,
    trigger,
    groupKey,
    uid: open?.uid ?? command.uid,
    eventNo: open?.eventCount ?? 0,
    isDebounced: rule.of === 'debounce',
    params,
    openedAt: (state.now - openForMs) as Instant,
    firesAt: (state.now + leftMs(rule, openForMs)) as Instant,
    actor: open?.actor ?? actor,
    at: state.now,
  });
  return state.held.get({ dagId: dag.id, trigger, groupKey })!;
}

/** How long they wait from now on, if no other event comes. */
function leftMs(rule: HoldEvent['rule'], openForMs: number): number {
  if (rule.of === 'batch') return Math.max(0, rule.withinMs - openForMs);
  return Math.max(0, Math.min(rule.waitMs, rule.atMostMs - openForMs));
}

/** The run has no id yet. Keys are kept by the age of a run id: that of a run of then is as good. */
function storeKey(recorder: Recorder, { key, tenantId, dagId: target }: HoldEvent, held: HeldEvents): void {
  const { state } = recorder;
  const { shard } = held;
  const uid: RunUid = held.uid;
  const runId = nextRunId(shard, state.shards.get(shard)!.lastRunId, held.firesAt);
  recorder.record({ kind: 'KeyStored', shard, tenantId, operation: HELD, target, ...key, runId, uid, at: state.now });
}

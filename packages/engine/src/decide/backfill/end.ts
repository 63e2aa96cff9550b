/** Ends backfills: with their dag, by the server, or because nothing is left to do. */
import { isLiveBackfill } from '../../model/backfill.ts';
import type { Actor } from '../../model/ids.ts';
import type { Backfill } from '../../tables/backfill/backfill.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import type { Recorder } from '../recorder.ts';

const SYSTEM = 'system' as Actor;

/** With its dag. */
export function cancelBackfillsOf(recorder: Recorder, dag: Dag, actor: Actor): void {
  for (const backfill of recorder.state.backfills.values()) {
    if (backfill.dagId === dag.id && isLiveBackfill(backfill.state)) recordSet(recorder, backfill, 'cancelled', actor);
  }
}

/** The server gives it up. */
export function stopBackfill(recorder: Recorder, backfill: Backfill, reason: string): void {
  recordSet(recorder, backfill, 'stopped', SYSTEM, reason);
}

/** At the end of a step: one with nothing left to create and no live run has ended. */
export function endBackfills(recorder: Recorder): void {
  const { agenda } = recorder.state;
  for (const backfill of agenda.backfills) {
    agenda.backfills.delete(backfill);
    const isOver = isLiveBackfill(backfill.state) && backfill.isDone && backfill.liveRuns === 0;
    if (isOver) recordSet(recorder, backfill, 'ended', SYSTEM);
    // Its own end has put it back: it is not looked at again.
    agenda.backfills.delete(backfill);
  }
}

/** Records its new state. */
export function recordSet(
  recorder: Recorder,
  { shard, uid, dagId }: Backfill,
  to: Backfill['state'],
  actor: Actor,
  reason: string | null = null,
): void {
  recorder.record({ kind: 'BackfillSet', shard, uid, dagId, state: to, reason, actor, at: recorder.state.now });
}

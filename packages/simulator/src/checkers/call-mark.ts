import type { RunCreated } from '@signalbox/engine';
import type { JournaledCommit } from '../fake-store/index.ts';

/**
 * A call that is stopped before it has arrived leaves a run that was cancelled from the start, also of a retired dag, and also when
 * the call itself is over by then: it may still arrive, and must find that it is over (I11).
 */
export function isOnlyMark({ runId, cause }: RunCreated, { changes }: JournaledCommit): boolean {
  const closed = changes.find((other) => other.kind === 'RunClosing' && other.runId === runId);
  const isClaimed = changes.some((other) => other.kind === 'AttemptClaimed' && other.runId === runId);
  return cause === 'parent' && closed?.kind === 'RunClosing' && closed.outcome === 'cancelled' && !isClaimed;
}

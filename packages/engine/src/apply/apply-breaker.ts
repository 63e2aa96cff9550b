import type { BreakerSet } from '../model/change.ts';
import { Breaker } from '../tables/breaker/breaker.ts';
import { watchBreaker } from '../tables/breaker/watch-breaker.ts';
import { updateLanes } from '../tables/queue/enqueue.ts';
import type { State } from '../tables/state.ts';

export function applyBreaker(state: State, change: BreakerSet): void {
  const known = state.breakers.get(change.dagId, change.fingerprint ?? 0);
  const dag = state.dags.get(change.dagId);
  if (change.state === 'closed') {
    if (known === undefined) return;
    state.breakers.remove(known);
  } else {
    const breaker = known ?? new Breaker(change);
    breaker.state = change.state;
    breaker.pauseMs = change.pauseMs;
    breaker.openedAt = change.openedAt;
    breaker.since = change.at;
    breaker.probe = null;
    breaker.allowance = 0;
    breaker.rampSteps = 0;
    breaker.idlePauses = 0;
    state.breakers.set(breaker);
    state.breakers.windows.forgetCause(change.dagId, breaker.fingerprint);
    // What was let go begins at once, the first probe after the pause.
    watchBreaker(state, breaker, change.state === 'ramping' ? 0 : change.pauseMs);
  }
  if (change.fingerprint !== null || dag === undefined) return;
  state.breakers.windows.forgetDag(dag.id);
  state.breakers.attach(dag);
  dag.touchedIn = state.batchNo;
  updateLanes(dag);
}

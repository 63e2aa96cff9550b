/** Opens, ramps and closes breakers. */
import type { BreakerSet } from '../../model/change.ts';
import type { Actor } from '../../model/ids.ts';
import { type Fingerprint, firstLineOf } from '../../model/task/fingerprint.ts';
import type { Breaker } from '../../tables/breaker/breaker.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import type { Recorder } from '../recorder.ts';
import { releaseAll } from './pass.ts';

const SYSTEM = 'system' as Actor;

export function open(
  recorder: Recorder,
  dag: Dag,
  fingerprint: Fingerprint | null,
  pauseMs: number,
  error: string | null,
): void {
  const { now } = recorder.state;
  const { shard, tenantId, id: dagId } = dag;
  const of = { shard, tenantId, dagId, fingerprint, error: firstLineOf(error) };
  recorder.record({ kind: 'BreakerSet', ...of, state: 'open', pauseMs, openedAt: now, actor: SYSTEM, at: now });
}

/** A probe failed: the next one comes after twice the pause. */
export function reopen(recorder: Recorder, breaker: Breaker, error: string | null): void {
  const { state } = recorder;
  const policy = state.dags.get(breaker.dagId)?.current.spec.breaker;
  const own = breaker.fingerprint === 0 && policy !== undefined && policy !== null ? policy.maxPauseMs : null;
  const most = Math.max(own ?? state.settings.causeBreaker.maxPauseMs, 1);
  setBreaker(recorder, breaker, {
    state: 'open',
    pauseMs: Math.min(breaker.pauseMs * 2, most),
    error: firstLineOf(error),
  });
}

export function letGo(recorder: Recorder, breaker: Breaker, actor: Actor = SYSTEM): void {
  setBreaker(recorder, breaker, { state: 'ramping', pauseMs: breaker.pauseMs, error: null, actor });
}

/** What it held goes on. */
export function closeBreaker(recorder: Recorder, breaker: Breaker): void {
  setBreaker(recorder, breaker, { state: 'closed', pauseMs: breaker.pauseMs, error: null });
  releaseAll(recorder, breaker);
}

function setBreaker(
  recorder: Recorder,
  breaker: Breaker,
  next: Pick<BreakerSet, 'state' | 'pauseMs' | 'error'> & { readonly actor?: Actor },
): void {
  const { shard, tenantId, dagId, openedAt } = breaker;
  const fingerprint = breaker.fingerprint === 0 ? null : (breaker.fingerprint as Fingerprint);
  const of = { shard, tenantId, dagId, fingerprint, openedAt };
  recorder.record({ kind: 'BreakerSet', ...of, actor: SYSTEM, ...next, at: recorder.state.now });
}

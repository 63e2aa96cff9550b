/** The messages to the shard of a called dag. */
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { AttemptSlot, Instant, RunRow } from '../../model/ids.ts';
import { claimOf } from '../../tables/attempt/claim-of.ts';
import { FORCED } from '../../tables/run/run-table.ts';
import type { State } from '../../tables/state.ts';
import type { SendCall } from '../effect.ts';
import { visibleTo } from '../match/send-assignment.ts';
import type { Recorder } from '../recorder.ts';

export function sendCall(recorder: Recorder, attempt: AttemptSlot, step: SendCall['step']): void {
  const { state } = recorder;
  const { attempts, runs } = state;
  const run = state.tasks.run[attempts.task[attempt]!]!;
  const claim = claimOf(state, attempt);
  recorder.send({
    kind: 'SendCall',
    step,
    force: runs.has(run, FORCED),
    claim,
    claimedAt: attempts.claimedAt[attempt] as Instant,
    runUid: runs.uidOf(run),
    version: runs.versionOf(run),
    priority: PRIORITIES[runs.priority[run]!]!,
    depth: depthOf(state, run),
    ...visibleTo(state, run, claim.taskNo),
  });
}

/** Of a run that this one calls. */
export function depthOf({ runs }: State, run: RunRow): number {
  return (runs.parents.get(run)?.depth ?? 0) + 1;
}

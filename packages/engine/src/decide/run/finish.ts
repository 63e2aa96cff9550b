/** Follows up at the end of a step: runs with nothing left to run close and end, and waiting runs are admitted. */

import type { Actor, RunRow } from '../../model/ids.ts';
import { RUN_OUTCOMES } from '../../model/run/phase.ts';
import { CLOSING, OPEN } from '../../tables/run/run-table.ts';
import { endBackfills } from '../backfill/end.ts';
import { tellParent } from '../child/tell-parent.ts';
import { retryRunByPolicy } from '../manual/retry-run.ts';
import { expandMaps } from '../map/expand-maps.ts';
import { checkPasts } from '../past/check-past.ts';
import type { Recorder } from '../recorder.ts';
import { strikeSchedule } from '../schedule/strike-schedule.ts';
import { refireHooks } from '../task/refire.ts';
import { recordClosing } from './record-closing.ts';
import { recordKey } from './run-key.ts';
import { stopRunning } from './stop-running.ts';
import { admitWaiting } from './waiting-runs.ts';

const SYSTEM = 'system' as Actor;

export function settleAgenda(recorder: Recorder): void {
  const { agenda, runs } = recorder.state;
  if (agenda.maps.size > 0) expandMaps(recorder);
  for (const run of agenda.runs) {
    if (recorder.isFull()) return;
    agenda.runs.delete(run);
    finishRun(recorder, run);
    // Its own close has put it back. One that is open again is looked at again: what was cleared may have nothing to do.
    if (runs.phase[run] !== OPEN) agenda.runs.delete(run);
  }
  if (agenda.past.size > 0) checkPasts(recorder);
  if (agenda.backfills.size > 0) endBackfills(recorder);
  noteSilentWorkers(recorder);
  for (const faulty of agenda.faulty.splice(0)) strikeSchedule(recorder, { kind: 'StrikeSchedule', ...faulty });
  for (const dag of agenda.dags) {
    admitWaiting(recorder, dag);
    if (recorder.isFull()) return; // This dag may have more to admit.
    agenda.dags.delete(dag);
  }
}

function noteSilentWorkers(recorder: Recorder): void {
  const { agenda, workers } = recorder.state;
  while (agenda.loaded.length > 0 && !recorder.isFull()) {
    const { shard, workerNo } = agenda.loaded.pop()!;
    const worker = workers.at(workerNo);
    if (worker === undefined || worker.heard || worker.silencedIn.has(shard)) continue;
    recorder.record({ kind: 'WorkerSilenced', shard, workerId: worker.id });
  }
}

/** Open with no task left, or one failed that it must not outlive: closing, its outcome fixed. Closing with nothing left: ended (I33). */
export function finishRun(recorder: Recorder, run: RunRow): void {
  const { runs, now } = recorder.state;
  if (runs.version[run] === undefined) return;
  const runId = runs.id[run]!;
  recorder.state.currentRun = runId;
  refireHooks(recorder, run);
  const isOver = runs.unfinished[run] === 0;
  const hasFailed = runs.failed[run]! > 0;
  if (runs.phase[run] === OPEN && (isOver || (hasFailed && runs.versionOf(run).graph.isFailFast))) {
    const outcome = hasFailed ? 'failed' : 'succeeded';
    recordClosing(recorder, run, { outcome, actor: SYSTEM });
    if (!isOver) stopRunning(recorder, run);
  }
  if (
    runs.phase[run] === CLOSING &&
    runs.unfinished[run] === 0 &&
    runs.closingLeft[run] === 0 &&
    runs.running[run] === 0
  ) {
    const outcome = RUN_OUTCOMES[runs.outcome[run]! - 1]!;
    recorder.record({ kind: 'RunEnded', runId, outcome, at: now });
    recordKey(recorder, run, { isLive: false, isActive: false });
    if (retryRunByPolicy(recorder, run)) return; // It has not ended for those who wait for it.
    tellParent(recorder, run);
    const { dag, spec } = runs.versionOf(run);
    if (spec.callbackUrl === undefined) return;
    const [uid, tenantId, dagId, url] = [runs.uidOf(run), dag.tenantId, dag.id, spec.callbackUrl];
    recorder.record({ kind: 'CallbackDue', runId, uid, tenantId, dagId, url, outcome, at: now });
  }
}

/** A worker loses its attempts, because its lease has ended or it has left. */
import type { AttemptSlot } from '../../model/ids.ts';
import { CONFIRMED, MISSING } from '../../tables/attempt/confirmed.ts';
import { attemptsOfWorker } from '../../tables/attempt/find-attempt.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import type { Recorder } from '../recorder.ts';
import { endAttempt } from '../task/end-attempt.ts';
import { returnClaim } from '../task/report.ts';
import { killAttempt } from './kill.ts';

/** The worker's time is up, or it has left: it loses its attempts, step by step if they are many (I25, I68). */
export function endLease(recorder: Recorder, worker: Worker): void {
  const { state } = recorder;
  for (const attempt of attemptsOfWorker(state, worker)) {
    if (recorder.isFull()) break;
    // A gang that shares workers ends with the first of its members.
    if (state.attempts.worker[attempt] !== worker.no) continue;
    state.currentRun = state.runIdOfTask(state.attempts.task[attempt]!);
    giveUpAttempt(recorder, attempt, worker);
  }
  if (worker.running === 0) {
    clearSilence(recorder, worker);
    state.workers.forgetIfIdle(worker);
  }
}

function giveUpAttempt(recorder: Recorder, attempt: AttemptSlot, worker: Worker): void {
  if (!worker.hasLeft) {
    killAttempt(recorder, attempt, 'lost');
    const error = 'The worker sent no heartbeat during its lease.';
    if (!worker.isDraining) return endAttempt(recorder, attempt, { outcome: 'lost', code: 'lost:silent', error });
    // A deploy gives workers some time to finish, and then kills them.
    const drained = `${error} It was told to stop before.`;
    endAttempt(recorder, attempt, { outcome: 'lost', code: 'lost:drained', error: drained, isOrderly: true });
  } else if ([CONFIRMED, MISSING].includes(recorder.state.attempts.confirmed[attempt]!)) {
    const error = 'The worker left.';
    endAttempt(recorder, attempt, { outcome: 'lost', code: 'lost:left', error, isOrderly: true });
  } else returnClaim(recorder, attempt, 'drained');
}

/** The worker was heard, or has nothing any more: its silence is of no interest. */
export function clearSilence(recorder: Recorder, worker: Worker): void {
  for (const shard of worker.silencedIn) recorder.record({ kind: 'WorkerHeardAgain', shard, workerId: worker.id });
}

/** From a change of the journal to what is told of it. What only matters inside is not told. */
import {
  type Change,
  type DagId,
  fingerprintText,
  type Instant,
  NOBODY,
  type RunId,
  type ShardNo,
  shardOfRun,
  type TaskNo,
  type WorkerId,
} from '@signalbox/engine';
import type { EventKind } from '@signalbox/protocol';
import { toIsoOrNull } from '../iso-instants.ts';

export interface Told {
  readonly kind: EventKind;
  readonly at: Instant;
  /** What it is about: a run, or a dag. */
  readonly about: { readonly runId: RunId } | { readonly shard: ShardNo; readonly dagId: DagId };
  readonly taskNo: TaskNo | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export function describe(change: Change): Told | null {
  switch (change.kind) {
    case 'DagDeployed':
      return ofDag('dag.deployed', change, { version: change.versionNo, hash: change.hash, actor: change.actor });
    case 'DagRevived':
      return ofDag('dag.deployed', change, { revived: true, actor: change.actor });
    case 'DagRetired':
      return ofDag('dag.retired', change, { actor: change.actor });
    case 'ScheduleSet': {
      const { cron, zone } = change.spec;
      return ofDag('schedule.set', change, {
        cron,
        zone,
        paused: change.paused,
        fault: change.fault,
        actor: change.actor,
      });
    }
    case 'ScheduleRemoved':
      return ofDag('schedule.removed', change, { actor: change.actor });
    case 'WindowDecided': {
      // A window that fires is told by the run that it makes.
      if (change.skipped === null) return null;
      const { skipped: reason, count, wallTime } = change;
      const span = { firesAt: toIsoOrNull(change.firesAt), untilAt: toIsoOrNull(change.untilAt) };
      return ofDag('window.skipped', change, { reason, count, wallTime, ...span });
    }
    case 'RunCreated': {
      const { versionNo: version, priority, cause, admitted, actor, parent: by } = change;
      const parent = by === undefined ? null : { run: by.uid, task: by.task, attempt: by.attemptNo };
      const window = toIsoOrNull(change.firesAt);
      return ofRun('run.created', change, { version, priority, cause, admitted, actor, window, parent });
    }
    case 'RunAdmitted':
      return ofRun('run.admitted', change, {});
    case 'RunReopened':
      return ofRun('run.reopened', change, {
        admitted: change.admitted,
        closing: change.asClosing ?? false,
        retry: change.retryNo === 0 ? null : change.retryNo,
        actor: change.actor,
      });
    case 'RunClosing':
      return ofRun('run.closing', change, { outcome: change.outcome, actor: change.actor });
    case 'RunForced':
      return ofRun('run.forced', change, { actor: change.actor });
    case 'RunEnded':
      return ofRun('run.ended', change, { outcome: change.outcome });
    case 'RunStruck':
      return change.setAside ? ofRun('run.set_aside', change, { reason: change.reason }) : null;
    case 'AttemptClaimed':
      return ofTask('attempt.claimed', change, { attempt: change.attemptNo, worker: workerOf(change) });
    case 'ClaimReturned':
      return ofTask('attempt.returned', change, { reason: change.reason });
    case 'AttemptEnded': {
      const { attemptNo: attempt, outcome, code, taskState: state, speculative = false } = change;
      const worker = workerOf(change);
      const times = { startedAt: toIsoOrNull(change.startedAt), retryAt: toIsoOrNull(change.retryAt) };
      return ofTask(
        'attempt.ended',
        { ...change, at: change.endedAt },
        { attempt, worker, outcome, code, state, ...times, ...(speculative && { speculative }) },
      );
    }
    case 'SecondClaimed':
      return ofTask('attempt.claimed', change, {
        attempt: change.attemptNo,
        worker: workerOf(change),
        speculative: true,
      });
    case 'SecondReturned':
      return ofTask('attempt.returned', change, { reason: change.reason, speculative: true });
    case 'SecondEnded':
    case 'SecondTookOver': {
      const { attemptNo: attempt, outcome, code, endedAt: at } = change;
      const speculative = change.kind === 'SecondEnded' || change.speculative === true;
      const times = { startedAt: toIsoOrNull(change.startedAt), retryAt: null };
      const details = { attempt, worker: workerOf(change), outcome, code, state: 'running', ...times, speculative };
      return ofTask('attempt.ended', { ...change, at }, details);
    }
    case 'TaskCleared':
      return ofTask('task.cleared', change, { attempt: change.attemptNo, was: change.from, actor: change.actor });
    case 'TaskMarked': {
      const { state, reason, actor } = change;
      return ofTask('task.marked', change, { state, reason, actor });
    }
    case 'PauseSet': {
      const details = { until: toIsoOrNull(change.until), actor: change.actor };
      const told = ofRun(change.paused ? 'run.paused' : 'run.resumed', change, details);
      if (change.taskNo === null) return told;
      return { ...told, kind: change.paused ? 'task.paused' : 'task.resumed', taskNo: change.taskNo };
    }
    case 'MapExpanded': {
      const { group, scope, firstNo, total } = change;
      return ofRun('map.expanded', change, { group, scope, firstNo, total });
    }
    case 'MapRemoved':
      return ofRun('map.removed', change, { firstNo: change.firstNo, actor: change.actor });
    case 'TasksAdded':
    case 'TasksDropped':
      return ofTask(change.kind === 'TasksAdded' ? 'tasks.added' : 'tasks.dropped', change, {
        tasks: change.tasks.map(({ name }) => name),
      });
    case 'DeadLetterWritten': {
      const { attemptNo: attempt, reason, outcome, code } = change;
      return ofTask('letter.written', change, {
        attempt,
        reason,
        outcome,
        code,
        fingerprint: fingerprintText(change.fingerprint),
      });
    }
    case 'DeadLetterClosed': {
      const { attemptNo: attempt, as: state, newUid: newRun, actor } = change;
      return ofTask('letter.closed', change, { attempt, state, newRun, actor });
    }
    case 'BreakerSet': {
      const { state, pauseMs, actor } = change;
      const fingerprint = change.fingerprint === null ? null : fingerprintText(change.fingerprint);
      return ofDag('breaker.set', change, {
        state,
        fingerprint,
        pauseMs,
        openedAt: toIsoOrNull(change.openedAt),
        actor,
      });
    }
    case 'TaskExpired':
      return ofTask('task.expired', change, { reason: change.reason });
    case 'TaskSlow':
      return ofTask('task.slow', change, { attempt: change.attemptNo });
    case 'AttemptExtended':
      return ofTask('attempt.extended', change, {
        attempt: change.attemptNo,
        deadlineAt: toIsoOrNull(change.deadlineAt),
      });
    case 'CallbackDue':
      return null; // Told by the end of its run.
    case 'RunSlow':
      return ofRun('run.slow', change, {});
    case 'RunTimedOut':
      return ofRun('run.timed_out', change, {});
    case 'CheckpointSaved':
    case 'ClaimAsserted':
    case 'MapUnfolded':
    case 'TaskQueued':
    case 'KeyStored':
    case 'WorkerSilenced':
    case 'WorkerHeardAgain':
      return null;
  }
}

type Details = Readonly<Record<string, unknown>>;

function ofDag(kind: EventKind, change: { shard: ShardNo; dagId: DagId; at: Instant }, details: Details): Told {
  return { kind, at: change.at, about: { shard: change.shard, dagId: change.dagId }, taskNo: null, details };
}

function ofRun(kind: EventKind, { runId, at }: { runId: RunId; at: Instant }, details: Details): Told {
  return { kind, at, about: { runId }, taskNo: null, details };
}

function ofTask(kind: EventKind, change: { runId: RunId; taskNo: TaskNo; at: Instant }, details: Details): Told {
  return { ...ofRun(kind, change, details), taskNo: change.taskNo };
}

export const shardOf = (about: Told['about']): ShardNo => ('runId' in about ? shardOfRun(about.runId) : about.shard);

/** A task that runs another dag has none. */
function workerOf({ workerId }: { readonly workerId: WorkerId }): string | null {
  return workerId === NOBODY ? null : workerId;
}

/** What a store should give back after some changes, kept in the plainest way: one object per thing, changed one by one. */
import {
  type AttemptNo,
  type Change,
  type DagId,
  type DeadLetterRef,
  deadLetterName,
  type Fence,
  type Instant,
  NOBODY,
  type RunCreated,
  type RunId,
  type SecondEnded,
  type SecondTookOver,
  type ShardNo,
  type StoredBreaker,
  type StoredDag,
  type StoredDeadLetter,
  type StoredKey,
  type StoredRun,
  type StoredSchedule,
  type StoredTask,
  type StoredVersion,
  type TaskMarked,
  type WorkerId,
} from '@signalbox/engine';
import { payloadName } from '../port.ts';
import { TENANT } from './changes.ts';

type Open<T> = { -readonly [K in keyof T]: T[K] };

export interface ModelRun extends Omit<Open<StoredRun>, 'tasks'> {
  tasks: Open<StoredTask>[];
  claimed: boolean;
}

export class Model {
  readonly dags = new Map<DagId, StoredDag>();
  readonly versions: StoredVersion[] = [];
  readonly schedules = new Map<DagId, StoredSchedule>();
  readonly runs = new Map<RunId, ModelRun>();
  readonly keys: StoredKey[] = [];
  readonly deadLetters = new Map<string, StoredDeadLetter>();
  readonly breakers = new Map<string, StoredBreaker>();
  readonly payloads = new Map<string, string>();
  readonly silent = new Map<ShardNo, Set<WorkerId>>();

  /** Those that have not ended, as a load brings them. */
  live(): StoredRun[] {
    return this.allRuns().filter(({ phase }) => phase !== 'ended');
  }

  allRuns(): StoredRun[] {
    const runs = [...this.runs.values()].sort((a, b) => a.runId - b.runId);
    return runs.map(({ claimed: _claimed, tasks, ...run }) => ({
      ...run,
      tasks: [...tasks].sort((a, b) => a.taskNo - b.taskNo),
    }));
  }

  run(runId: RunId): ModelRun {
    const run = this.runs.get(runId);
    if (run === undefined) throw new Error(`run ${runId} is not in the model`);
    return run;
  }

  task(runId: RunId, taskNo: number): Open<StoredTask> {
    const task = this.run(runId).tasks.find((one) => one.taskNo === taskNo);
    if (task === undefined) throw new Error(`task ${taskNo} of run ${runId} is not in the model`);
    return task;
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'DagDeployed': {
        const { shard, dagId, tenantId, name, versionNo, hash, spec } = change;
        const windowsUntil = this.dags.get(dagId)?.windowsUntil ?? (0 as Instant);
        const named = { shard, dagId, tenantId, tenant: TENANT.tenant, name, versionNo };
        this.dags.set(dagId, { ...named, isRetired: false, windowsUntil });
        this.versions.push({ dagId, versionNo, hash, spec });
        return;
      }
      case 'DagRetired':
      case 'DagRevived':
        this.#changeDag(change.dagId, { isRetired: change.kind === 'DagRetired' });
        return;
      case 'ScheduleSet': {
        const { kind: _kind, actor: _actor, at: _at, ...schedule } = change;
        this.schedules.set(change.dagId, schedule);
        return;
      }
      case 'ScheduleRemoved':
        this.schedules.delete(change.dagId);
        this.#changeDag(change.dagId, { windowsUntil: change.decidedUntil });
        return;
      case 'WindowDecided': {
        const schedule = this.schedules.get(change.dagId);
        if (schedule === undefined) return;
        const decidedUntil = Math.max(schedule.decidedUntil, change.untilAt) as Instant;
        this.schedules.set(change.dagId, { ...schedule, decidedUntil });
        return;
      }
      case 'RunCreated':
        this.#create(change);
        return;
      case 'KeyStored': {
        const { kind: _kind, at: _at, ...key } = change;
        this.keys.push(key);
        return;
      }
      case 'CallbackDue':
        return;
      case 'DeadLetterWritten': {
        const { runId, taskNo, attemptNo, tenantId } = change;
        this.deadLetters.set(deadLetterName(change), { runId, taskNo, attemptNo, tenantId, state: 'open' });
        return;
      }
      case 'DeadLetterClosed':
        this.closeDeadLetter(change, change.as);
        return;
      case 'BreakerSet': {
        const { shard, tenantId, dagId, fingerprint, state, pauseMs, openedAt, at: since } = change;
        const key = `${dagId}/${fingerprint}`;
        if (state === 'closed') this.breakers.delete(key);
        else this.breakers.set(key, { shard, tenantId, dagId, fingerprint, state, pauseMs, openedAt, since });
        return;
      }
      case 'WorkerSilenced':
        this.silentOf(change.shard).add(change.workerId);
        return;
      case 'WorkerHeardAgain':
        this.silentOf(change.shard).delete(change.workerId);
        return;
      default:
        this.#applyToRun(change);
    }
  }

  closeDeadLetter(deadLetter: DeadLetterRef, as: StoredDeadLetter['state']): void {
    const known = this.deadLetters.get(deadLetterName(deadLetter));
    if (known?.state === 'open') this.deadLetters.set(deadLetterName(deadLetter), { ...known, state: as });
  }

  silentOf(shard: ShardNo): Set<WorkerId> {
    const workers = this.silent.get(shard) ?? new Set();
    this.silent.set(shard, workers);
    return workers;
  }

  #changeDag(dagId: DagId, fields: Partial<StoredDag>): void {
    const dag = this.dags.get(dagId);
    if (dag === undefined) throw new Error(`dag ${dagId} is not in the model`);
    this.dags.set(dagId, { ...dag, ...fields });
  }

  #create({ runId, uid, tenantId, dagId, versionNo, priority, admitted, params, facts, at, parent }: RunCreated): void {
    const ids = { runId, uid, tenantId, dagId, versionNo };
    const fresh = {
      phase: 'open',
      outcome: null,
      isForced: false,
      strikes: 0,
      setAside: false,
      tasks: [],
      claimed: false,
      graceMs: null,
      retries: 0,
      pauses: [],
    } as const;
    this.runs.set(runId, {
      ...ids,
      priority,
      admitted,
      hasParams: params !== null,
      facts,
      ...(parent === undefined ? {} : { parent }),
      createdAt: at,
      ...(admitted ? { admittedAt: at } : {}),
      ...fresh,
      tasks: [],
    });
    if (params !== null) this.payloads.set(payloadName({ runId, taskNo: null }), params);
  }

  #mark({ runId, taskNo, attemptNo, fence, state, output, facts, at }: TaskMarked): void {
    const run = this.run(runId);
    const before = run.tasks.find((task) => task.taskNo === taskNo);
    const known = before ?? {
      workerId: NOBODY,
      claimedAt: at,
      lostCount: 0,
      budgetBase: 0,
      checkpoint: null,
      notes: null,
      fingerprint: null,
      quick: null,
    };
    const marked = { taskNo, attemptNo, fence, state: state === 'cancelled' ? 'stopped' : state, facts } as const;
    run.tasks = run.tasks.filter((task) => task.taskNo !== taskNo);
    run.tasks.push({ ...known, ...marked, retryAt: null, endedAt: at, outcome: null });
    run.claimed = true;
    if (state !== 'succeeded') return;
    this.payloads.delete(payloadName({ runId, taskNo }));
    if (output !== null) this.payloads.set(payloadName({ runId, taskNo }), output);
  }

  #keepError({ runId, taskNo, attemptNo, error }: SecondEnded | SecondTookOver): void {
    if (error !== null) this.payloads.set(payloadName({ runId, taskNo, errorOf: attemptNo }), error);
  }

  #applyToRun(change: Extract<Change, { runId: RunId | null }>): void {
    switch (change.kind) {
      case 'RunAdmitted':
        Object.assign(this.run(change.runId), { admitted: true, admittedAt: change.at });
        return;
      case 'AttemptClaimed': {
        const { runId, taskNo, attemptNo, fence, workerId, at } = change;
        const run = this.run(runId);
        const before = run.tasks.find((task) => task.taskNo === taskNo);
        run.tasks = run.tasks.filter((task) => task.taskNo !== taskNo);
        const claim = { taskNo, state: 'running', attemptNo, fence, workerId, claimedAt: at } as const;
        const counts = { lostCount: before?.lostCount ?? 0, budgetBase: before?.budgetBase ?? 0 };
        const kept = { checkpoint: before?.checkpoint ?? null, notes: change.notes ?? before?.notes ?? null };
        const failures = { fingerprint: before?.fingerprint ?? null, quick: before?.quick ?? null };
        run.tasks.push({
          ...claim,
          ...failures,
          retryAt: null,
          endedAt: null,
          outcome: null,
          facts: null,
          ...kept,
          ...counts,
        });
        run.claimed = true;
        return;
      }
      case 'ClaimReturned':
        this.task(change.runId, change.taskNo).state = 'returned';
        return;
      case 'AttemptEnded': {
        const { runId, taskNo, attemptNo, taskState: state, outcome, retryAt, endedAt } = change;
        const { lostCount, output, facts, error } = change;
        const task = this.task(runId, taskNo);
        const notes = change.notes ?? task.notes;
        Object.assign(task, { state, outcome, retryAt, endedAt, lostCount, facts, notes });
        const { fingerprint, quick } = change;
        if (fingerprint !== null) Object.assign(task, { fingerprint, quick });
        if (outcome === 'succeeded') this.payloads.delete(payloadName({ runId, taskNo }));
        if (output !== null) this.payloads.set(payloadName({ runId, taskNo }), output);
        if (error !== null) this.payloads.set(payloadName({ runId, taskNo, errorOf: attemptNo }), error);
        return;
      }
      case 'TaskCleared': {
        const { runId, taskNo, attemptNo, freshBudget } = change;
        const budget = freshBudget ? { lostCount: 0, budgetBase: attemptNo } : {};
        const task = this.task(runId, taskNo);
        if (change.from === 'succeeded' && task.checkpoint !== null) {
          this.payloads.delete(payloadName({ runId, taskNo, checkpoint: task.checkpoint }));
          task.checkpoint = null;
        }
        Object.assign(task, { state: 'cleared', facts: null, ...budget, notes: change.notes ?? task.notes });
        Object.assign(task, { fingerprint: null, quick: null });
        if (change.from === 'failed' || change.from === 'expired') this.closeDeadLetter(change, 'replayed');
        return;
      }
      case 'CheckpointSaved': {
        const { runId, taskNo, fence, no, value } = change;
        const task = this.task(runId, taskNo);
        if (task.checkpoint !== null) this.payloads.delete(payloadName({ runId, taskNo, checkpoint: task.checkpoint }));
        task.checkpoint = { fence, no };
        this.payloads.set(payloadName({ runId, taskNo, checkpoint: task.checkpoint }), value);
        return;
      }
      case 'ClaimAsserted':
        return;
      case 'TasksAdded':
      case 'TasksDropped': {
        const run = this.run(change.runId);
        const known = new Map((run.added ?? []).map((one) => [one.no, one]));
        for (const one of change.tasks) known.set(one.no, one);
        run.added = [...known.values()].sort((a, b) => a.no - b.no);
        return;
      }
      case 'MapExpanded': {
        const { group, scope, firstNo, total } = change;
        const run = this.run(change.runId);
        run.maps = [...(run.maps ?? []), { group, scope, firstNo, total, unfolded: 0, isRemoved: false }];
        run.claimed = true;
        return;
      }
      case 'MapUnfolded':
      case 'MapRemoved': {
        const run = this.run(change.runId);
        const next = change.kind === 'MapUnfolded' ? { unfolded: change.until } : { isRemoved: true };
        run.maps = (run.maps ?? []).map((map) => (map.firstNo === change.firstNo ? { ...map, ...next } : map));
        return;
      }
      case 'TaskMarked':
        if (change.state !== 'failed') this.closeDeadLetter(change, 'discarded');
        return this.#mark(change);
      case 'PauseSet': {
        const { taskNo, paused, actor: by, at, until } = change;
        const run = this.run(change.runId);
        const others = run.pauses.filter((pause) => pause.taskNo !== taskNo);
        const ended = run.pauses.find((pause) => pause.taskNo === taskNo);
        const isDelayOver = taskNo === null && !paused && ended !== undefined && ended.until !== null;
        if (isDelayOver && run.admittedAt !== undefined) run.admittedAt = at;
        const all = paused ? [...others, { taskNo, by, at, until }] : others;
        run.pauses = all.sort((a, b) => (a.taskNo ?? -1) - (b.taskNo ?? -1));
        return;
      }
      case 'RunReopened': {
        const run = this.run(change.runId);
        if (change.asClosing !== true) delete run.notes;
        if (change.asClosing !== true && change.notes !== undefined) run.notes = change.notes;
        delete run.admittedAt;
        Object.assign(run, {
          ...(change.asClosing ? { phase: 'closing' } : { phase: 'open', outcome: null }),
          isForced: false,
          admitted: change.admitted,
          ...(change.admitted ? { admittedAt: change.at } : {}),
        });
        if (change.retryNo > 0) this.run(change.runId).retries = change.retryNo;
        return;
      }
      case 'RunSlow':
      case 'RunTimedOut':
        this.run(change.runId).notes = change.notes;
        return;
      case 'TaskQueued': {
        const { runId, taskNo, isNew, notes, at } = change;
        this.run(runId).claimed = true;
        if (!isNew) return void (this.task(runId, taskNo).notes = notes);
        const none = {
          retryAt: null,
          endedAt: null,
          outcome: null,
          facts: null,
          checkpoint: null,
          fingerprint: null,
          quick: null,
        } as const;
        const counts = { attemptNo: 0 as AttemptNo, fence: 0 as Fence, lostCount: 0, budgetBase: 0 };
        this.run(runId).tasks.push({
          taskNo,
          state: 'cleared',
          workerId: NOBODY,
          claimedAt: at,
          notes,
          ...counts,
          ...none,
        });
        return;
      }
      case 'TaskExpired':
        Object.assign(this.task(change.runId, change.taskNo), {
          state: 'expired',
          attemptNo: change.attemptNo,
          notes: change.notes,
        });
        return;
      case 'SecondTookOver':
        Object.assign(this.task(change.runId, change.taskNo), { ...change.next, notes: change.notes });
        this.#keepError(change);
        return;
      case 'SecondEnded':
        this.task(change.runId, change.taskNo).notes = change.notes;
        this.#keepError(change);
        return;
      case 'SecondClaimed':
      case 'SecondReturned':
      case 'TaskSlow':
      case 'AttemptExtended':
        this.task(change.runId, change.taskNo).notes = change.notes;
        return;
      case 'RunForced':
        this.run(change.runId).isForced = true;
        return;
      case 'RunClosing':
        Object.assign(this.run(change.runId), { phase: 'closing', outcome: change.outcome });
        if (change.graceMs !== undefined) this.run(change.runId).graceMs = change.graceMs;
        return;
      case 'RunEnded':
        Object.assign(this.run(change.runId), { phase: 'ended', outcome: change.outcome });
        return;
      case 'RunStruck':
        Object.assign(this.run(change.runId), { strikes: change.strikes, setAside: change.setAside });
        return;
      default:
        throw new Error(`${change.kind} is not a change of a run`);
    }
  }
}

/** What a database would hold, by its own reading of the changes: the other side of "restored equals live" (I19). */

import type { TaskDeadlineChange } from '../apply/apply-deadlines.ts';
import type { Heads } from '../apply/restore.ts';
import type {
  AttemptClaimed,
  AttemptEnded,
  Change,
  ClaimReturned,
  MapExpanded,
  MapRemoved,
  MapUnfolded,
  PauseSet,
  TaskCleared,
  TaskMarked,
  TasksAdded,
  TasksDropped,
} from '../model/change.ts';
import { type DeadLetterRef, deadLetterName } from '../model/dead-letter.ts';
import type {
  AttemptNo,
  DagId,
  Epoch,
  Fence,
  Instant,
  RunId,
  RunUid,
  ShardNo,
  TaskNo,
  WorkerId,
} from '../model/ids.ts';
import { NOBODY, shardOfRun } from '../model/ids.ts';
import { notesCreated } from '../model/run/run-notes.ts';
import type {
  Need,
  Seen,
  StoredBreaker,
  StoredDag,
  StoredDeadLetter,
  StoredKey,
  StoredRun,
  StoredSchedule,
  StoredTask,
  StoredVersion,
} from '../model/stored.ts';

interface RunRow extends Omit<StoredRun, 'tasks'> {
  readonly taskRows: Map<TaskNo, StoredTask>;
}

interface ShardRow {
  epoch: number;
  commitNo: number;
  lastRunId: RunId;
  lastDagNo: number;
  /** The end of the last break in service, by the database's own clock. */
  missedUntil: number | null;
  /** By the database's own clock. */
  readonly silentSince: Map<WorkerId, number>;
}

export class MemoryStore {
  readonly journal: Change[] = [];
  readonly windows: Extract<Change, { kind: 'WindowDecided' }>[] = [];
  private readonly shards = new Map<ShardNo, ShardRow>();
  private readonly dags = new Map<DagId, StoredDag>();
  private readonly versions = new Map<string, StoredVersion>();
  private readonly schedules = new Map<DagId, StoredSchedule>();
  private readonly runs = new Map<RunId, RunRow>();
  private readonly uids = new Map<RunUid, RunId>();
  readonly deadLetters = new Map<string, StoredDeadLetter & { readonly reason: string }>();
  private readonly breakers = new Map<string, StoredBreaker>();
  private readonly keys = new Map<string, StoredKey>();

  commit(changes: readonly Change[], at: number): void {
    for (const change of changes) {
      this.journal.push(change);
      this.write(change, at);
    }
  }

  /** A takeover: the epoch rises, and what is live is handed over. */
  take(shards: readonly ShardNo[], now: number): Heads {
    for (const shard of shards) this.shard(shard).epoch += 1;
    return this.heads(shards, now);
  }

  /** Nobody served these shards for longer than the grace, until now. */
  noteBreak(shards: readonly ShardNo[], now: number): void {
    for (const shard of shards) this.shard(shard).missedUntil = now;
  }

  heads(shards: readonly ShardNo[], now: number): Heads {
    const taken = new Set(shards);
    const runs = [...this.runs.values()].filter((run) => taken.has(shardOfRun(run.runId)) && isLive(run));
    const dagIds = new Set(runs.map((run) => run.dagId));
    const counts = new Map<DagId, number>();
    for (const { dagId, admitted } of runs) if (admitted) counts.set(dagId, (counts.get(dagId) ?? 0) + 1);
    return {
      shards: shards.map((shard) => {
        const { epoch, commitNo, lastRunId, lastDagNo, silentSince, missedUntil } = this.shard(shard);
        const missedAgoMs = missedUntil === null ? null : now - missedUntil;
        const silentWorkers = [...silentSince].map(([workerId, since]) => ({
          workerId,
          silentMs: now - since,
          servedMs: now - since,
        }));
        return { shard, epoch: epoch as Epoch, commitNo, lastRunId, lastDagNo, missedAgoMs, silentWorkers };
      }),
      schedules: [...this.schedules.values()].filter(({ shard }) => taken.has(shard)),
      runs: runs.map(readRun),
      dags: [...this.dags.values()].filter(({ dagId }) => dagIds.has(dagId)),
      versions: [...this.versions.values()].filter(({ dagId }) => dagIds.has(dagId)),
      breakers: [...this.breakers.values()].filter(({ shard }) => taken.has(shard)),
      admitted: [...counts].map(([dagId, admitted]) => ({ dagId, admitted })),
    };
  }

  fetch(needs: readonly Need[]): Seen {
    const runs = needs.flatMap((need) => {
      const runId = need.kind === 'run' ? need.runId : need.kind === 'run_uid' ? this.uids.get(need.uid) : undefined;
      const row = runId === undefined ? undefined : this.runs.get(runId);
      return row === undefined ? [] : [readRun(row)];
    });
    const dags = [...this.dags.values()].filter(
      (dag) => runs.some((run) => run.dagId === dag.dagId) || needs.some((need) => asksFor(need, dag)),
    );
    const dagIds = new Set(dags.map(({ dagId }) => dagId));
    return {
      runs,
      dags,
      versions: [...this.versions.values()].filter(({ dagId }) => dagIds.has(dagId)),
      schedules: [],
      keys: needs.flatMap((need) => {
        const key = need.kind === 'key' ? this.keys.get(`${need.tenantId}/${need.target}/${need.key}`) : undefined;
        return key === undefined ? [] : [key];
      }),
      deadLetters: needs.flatMap((need) => {
        const deadLetter = need.kind === 'deadLetter' ? this.deadLetters.get(deadLetterName(need)) : undefined;
        return deadLetter === undefined ? [] : [deadLetter];
      }),
    };
  }

  runsStored(): readonly StoredRun[] {
    return [...this.runs.values()].map(readRun);
  }

  silentWorkers(shard: ShardNo): readonly WorkerId[] {
    return [...this.shard(shard).silentSince.keys()];
  }

  private shard(shard: ShardNo): ShardRow {
    let row = this.shards.get(shard);
    if (row === undefined) {
      row = { epoch: 0, commitNo: 0, lastRunId: 0 as RunId, lastDagNo: 0, missedUntil: null, silentSince: new Map() };
      this.shards.set(shard, row);
    }
    return row;
  }

  private write(change: Change, at: number): void {
    switch (change.kind) {
      case 'DagDeployed': {
        const { shard, dagId, tenantId, name, versionNo, hash, spec } = change;
        const { windowsUntil } = this.dags.get(dagId) ?? { windowsUntil: 0 as Instant };
        const state = { isRetired: false, windowsUntil };
        this.dags.set(dagId, { shard, dagId, tenantId, tenant: 'acme', name, versionNo, ...state });
        this.versions.set(`${dagId}/${versionNo}`, { dagId, versionNo, hash, spec });
        const row = this.shard(shard);
        row.lastDagNo = Math.max(row.lastDagNo, Math.floor(dagId / 64));
        return;
      }
      case 'DagRetired':
      case 'DagRevived': {
        this.dags.set(change.dagId, { ...this.dags.get(change.dagId)!, isRetired: change.kind === 'DagRetired' });
        return;
      }
      case 'ScheduleSet': {
        const { shard, dagId, revision, spec, paused, decidedUntil, fault } = change;
        this.schedules.set(dagId, { shard, dagId, revision, spec, paused, decidedUntil, fault });
        return;
      }
      case 'ScheduleRemoved':
        this.schedules.delete(change.dagId);
        this.dags.set(change.dagId, { ...this.dags.get(change.dagId)!, windowsUntil: change.decidedUntil });
        return;
      case 'WindowDecided': {
        this.windows.push(change);
        const known = this.schedules.get(change.dagId)!;
        const decidedUntil = Math.max(known.decidedUntil, change.untilAt) as Instant;
        this.schedules.set(change.dagId, { ...known, decidedUntil });
        return;
      }
      case 'CallbackDue':
        return;
      case 'DeadLetterWritten': {
        const { runId, taskNo, attemptNo, tenantId, reason } = change;
        if (this.deadLetters.get(deadLetterName(change))?.state === 'open')
          throw new Error(`The letter ${deadLetterName(change)} is written twice.`);
        this.deadLetters.set(deadLetterName(change), { runId, taskNo, attemptNo, tenantId, reason, state: 'open' });
        return;
      }
      case 'DeadLetterClosed':
        return this.closeDeadLetter(change, change.as);
      case 'BreakerSet': {
        const { dagId, fingerprint, state, shard, tenantId, pauseMs, openedAt, at: since } = change;
        const name = `${dagId}/${fingerprint}`;
        if (state === 'closed') this.breakers.delete(name);
        else this.breakers.set(name, { shard, tenantId, dagId, fingerprint, state, pauseMs, openedAt, since });
        return;
      }
      case 'KeyStored':
        this.keys.set(`${change.tenantId}/${change.target}/${change.key}`, change);
        return;
      case 'WorkerSilenced':
        this.shard(change.shard).silentSince.set(change.workerId, at);
        return;
      case 'WorkerHeardAgain':
        this.shard(change.shard).silentSince.delete(change.workerId);
        return;
      case 'AttemptClaimed':
      case 'ClaimReturned':
      case 'AttemptEnded':
      case 'TaskCleared':
        return this.writeTask(change);
      case 'SecondClaimed':
      case 'SecondReturned':
      case 'SecondEnded':
      case 'SecondTookOver': {
        const { taskRows } = this.runs.get(change.runId)!;
        const row = taskRows.get(change.taskNo)!;
        if (row.state !== 'running') throw new Error('A task that runs twice runs.');
        const next = change.kind === 'SecondTookOver' ? change.next : {};
        taskRows.set(change.taskNo, { ...row, ...next, notes: change.notes });
        return;
      }
      case 'TaskQueued':
      case 'TaskExpired':
      case 'TaskSlow':
      case 'AttemptExtended': {
        const { taskRows } = this.runs.get(change.runId)!;
        const { taskNo, notes } = change;
        const known = taskRows.get(taskNo);
        if ((known === undefined) !== (change.kind === 'TaskQueued' && change.isNew))
          throw new Error('A row is made once.');
        const { attemptNo } = { attemptNo: known?.attemptNo ?? (0 as AttemptNo), ...change };
        const state = change.kind === 'TaskExpired' ? { state: 'expired' as const, attemptNo } : {};
        taskRows.set(taskNo, { ...(known ?? unclaimed(change)), ...state, notes });
        return;
      }
      case 'CheckpointSaved': {
        const { taskRows } = this.runs.get(change.runId)!;
        const { taskNo, fence, no } = change;
        taskRows.set(taskNo, { ...taskRows.get(taskNo)!, checkpoint: { fence, no } });
        return;
      }
      case 'ClaimAsserted':
        return;
      case 'TasksAdded':
      case 'TasksDropped':
        return this.writeAdded(change);
      case 'MapExpanded':
      case 'MapUnfolded':
      case 'MapRemoved':
        return this.writeMap(change);
      case 'TaskMarked':
        if (change.state !== 'failed') this.closeDeadLetter(change, 'discarded');
        return this.markTask(change);
      case 'PauseSet':
        return this.setPause(change);
      default:
        return this.writeRun(change);
    }
  }

  private markTask({ runId, taskNo, attemptNo, fence, state, facts, at, firstOfTask }: TaskMarked): void {
    const { taskRows } = this.runs.get(runId)!;
    const known = taskRows.get(taskNo);
    if ((known === undefined) !== firstOfTask || known?.state === 'running')
      throw new Error('A marked task has a row.');
    const base = known ?? {
      taskNo,
      workerId: NOBODY,
      claimedAt: at,
      lostCount: 0,
      budgetBase: 0,
      checkpoint: null,
      notes: null,
      fingerprint: null,
      quick: null,
    };
    const marked = { attemptNo, fence, state: state === 'cancelled' ? 'stopped' : state, facts } as const;
    taskRows.set(taskNo, { ...base, ...marked, retryAt: null, endedAt: at, outcome: null });
  }

  private setPause({ runId, taskNo, paused, until, actor: by, at }: PauseSet): void {
    const row = this.runs.get(runId)!;
    const others = row.pauses.filter((pause) => pause.taskNo !== taskNo);
    const pauses = paused ? [...others, { taskNo, by, at, until }] : others;
    const isDelayOver = !paused && row.pauses.some((pause) => pause.taskNo === null && pause.until !== null);
    const since = taskNo === null && isDelayOver && row.admittedAt !== undefined ? { admittedAt: at } : {};
    this.runs.set(runId, { ...row, ...since, pauses: pauses.sort((a, b) => (a.taskNo ?? -1) - (b.taskNo ?? -1)) });
  }

  private writeRun(change: Extract<Change, { kind: `Run${string}` }>): void {
    if (change.kind === 'RunCreated') {
      const { runId, uid, tenantId, dagId, versionNo, priority, admitted, params, facts, at, parent } = change;
      if (this.uids.has(uid)) throw new Error(`The uid ${uid} is stored twice.`);
      this.uids.set(uid, runId);
      const row = {
        runId,
        uid,
        tenantId,
        dagId,
        versionNo,
        priority,
        admitted,
        createdAt: at,
        ...(admitted ? { admittedAt: at } : {}),
        hasParams: params !== null,
        facts,
        ...(parent === undefined ? {} : { parent }),
        ...notesCreated(change),
      };
      const fresh = {
        phase: 'open',
        outcome: null,
        isForced: false,
        strikes: 0,
        setAside: false,
        taskRows: new Map(),
        graceMs: null,
        retries: 0,
        pauses: [],
      } as const;
      this.runs.set(runId, { ...row, ...fresh });
      const shard = this.shard(shardOfRun(runId));
      if (runId > shard.lastRunId) shard.lastRunId = runId;
      return;
    }
    const before = this.runs.get(change.runId)!;
    const { notes: _notes, admittedAt: _admittedAt, ...afresh } = before;
    const row = change.kind === 'RunReopened' ? { ...afresh, ...notesIn(change.asClosing ? before : change) } : before;
    const { outcome } = { ...row, ...change };
    const isBackToClosing = change.kind === 'RunReopened' && change.asClosing === true;
    const next = {
      RunAdmitted: { admitted: true, ...(change.kind === 'RunAdmitted' ? { admittedAt: change.at } : {}) },
      RunSlow: change.kind === 'RunSlow' ? { notes: change.notes } : {},
      RunTimedOut: change.kind === 'RunTimedOut' ? { notes: change.notes } : {},
      RunClosing: {
        phase: 'closing',
        outcome,
        graceMs: (change.kind === 'RunClosing' ? change.graceMs : undefined) ?? row.graceMs,
      },
      RunForced: { isForced: true },
      RunEnded: { phase: 'ended', outcome },
      RunReopened: {
        phase: isBackToClosing ? 'closing' : 'open',
        outcome: isBackToClosing ? row.outcome : null,
        isForced: false,
        admitted: change.kind === 'RunReopened' && change.admitted,
        retries: change.kind === 'RunReopened' && change.retryNo > 0 ? change.retryNo : row.retries,
        ...(change.kind === 'RunReopened' && change.admitted ? { admittedAt: change.at } : {}),
      },
      RunStruck: change.kind === 'RunStruck' ? { strikes: change.strikes, setAside: change.setAside } : {},
    } as const;
    this.runs.set(change.runId, { ...row, ...next[change.kind] });
  }

  private writeMap(change: MapExpanded | MapUnfolded | MapRemoved): void {
    const { runId, firstNo } = change;
    const row = this.runs.get(runId)!;
    const maps = row.maps ?? [];
    if (change.kind === 'MapExpanded') {
      const { group, scope, total } = change;
      const added = { group, scope, firstNo, total, unfolded: 0, isRemoved: false };
      this.runs.set(runId, { ...row, maps: [...maps, added] });
      return;
    }
    const known = maps.find((map) => map.firstNo === firstNo);
    if (known === undefined || known.isRemoved) throw new Error(`${change.kind} is about a map that is not there.`);
    const next = change.kind === 'MapUnfolded' ? { unfolded: change.until } : { isRemoved: true };
    this.runs.set(runId, { ...row, maps: maps.map((map) => (map === known ? { ...map, ...next } : map)) });
  }

  private writeAdded(change: TasksAdded | TasksDropped): void {
    const row = this.runs.get(change.runId)!;
    const known = new Map((row.added ?? []).map((one) => [one.no, one]));
    for (const one of change.tasks) known.set(one.no, one);
    this.runs.set(change.runId, { ...row, added: [...known.values()] });
  }

  private closeDeadLetter(deadLetter: DeadLetterRef, as: StoredDeadLetter['state']): void {
    const known = this.deadLetters.get(deadLetterName(deadLetter));
    if (known?.state === 'open') this.deadLetters.set(deadLetterName(deadLetter), { ...known, state: as });
  }

  private writeTask(change: AttemptClaimed | ClaimReturned | AttemptEnded | TaskCleared): void {
    const { taskRows } = this.runs.get(change.runId)!;
    const { taskNo, fence } = change;
    const known = taskRows.get(taskNo);
    if (change.kind === 'AttemptClaimed') {
      const { attemptNo, workerId, at: claimedAt } = change;
      const counts = {
        lostCount: known?.lostCount ?? 0,
        budgetBase: known?.budgetBase ?? 0,
        fingerprint: known?.fingerprint ?? null,
        quick: known?.quick ?? null,
      };
      const [checkpoint, notes] = [known?.checkpoint ?? null, change.notes ?? known?.notes ?? null];
      const fresh = { checkpoint, notes, retryAt: null, endedAt: null, outcome: null, facts: null, ...counts };
      taskRows.set(taskNo, { taskNo, fence, attemptNo, workerId, claimedAt, state: 'running', ...fresh });
    } else if (change.kind === 'TaskCleared') {
      if (known?.state !== change.from) throw new Error(`A task that is ${known?.state} was cleared.`);
      const budget = change.freshBudget ? { lostCount: 0, budgetBase: change.attemptNo } : {};
      // What a task that succeeded has left behind is of no use to the next attempt.
      const checkpoint = change.from === 'succeeded' ? null : known.checkpoint;
      const fresh = { fingerprint: null, quick: null, facts: null, checkpoint };
      taskRows.set(taskNo, { ...known, state: 'cleared', ...budget, ...fresh, ...notesIn(change) });
      this.closeDeadLetter(change, 'replayed');
    } else if (known?.state !== 'running' || known.fence !== fence) {
      throw new Error(`${change.kind} is about attempt ${fence} of task ${taskNo}, which is not the one that runs.`);
    } else if (change.kind === 'ClaimReturned') {
      taskRows.set(taskNo, { ...known, state: 'returned' });
    } else {
      const { taskState: state, outcome, lostCount, retryAt, endedAt, facts, fingerprint, quick } = change;
      const failures = { lostCount, ...(fingerprint === null ? {} : { fingerprint, quick }) };
      taskRows.set(taskNo, { ...known, state, outcome, retryAt, endedAt, facts, ...failures, ...notesIn(change) });
    }
  }
}

/** The row of a task that was never claimed. */
function unclaimed({ taskNo, at }: TaskDeadlineChange): StoredTask {
  const none = { retryAt: null, endedAt: null, outcome: null, facts: null, checkpoint: null, notes: null } as const;
  const failure = { fingerprint: null, quick: null } as const;
  const counts = { attemptNo: 0 as AttemptNo, fence: 0 as Fence, lostCount: 0, budgetBase: 0 };
  return { taskNo, state: 'cleared', workerId: NOBODY, claimedAt: at, ...counts, ...none, ...failure };
}

const notesIn = ({ notes }: { readonly notes?: string }) => (notes === undefined ? {} : { notes });

function readRun({ taskRows, ...row }: RunRow): StoredRun {
  return { ...row, tasks: [...taskRows.values()].sort((a, b) => a.taskNo - b.taskNo) };
}

/** A run that was set aside has not ended: it is loaded, and counted, like the others. */
function isLive(run: Pick<StoredRun, 'phase'>): boolean {
  return run.phase !== 'ended';
}

function asksFor(need: Need, dag: StoredDag): boolean {
  if (need.kind === 'dag') return need.dagId === dag.dagId;
  if (need.kind === 'version') return need.dagId === dag.dagId;
  return need.kind === 'dag_name' && need.tenantId === dag.tenantId && need.name === dag.name;
}

/**
 * The books of the checkers: what is committed, built up from the journal alone, change by change, in the plainest way. It
 * shares no code with engine or store, so that the two can be held against each other.
 */
import type {
  AttemptEnded,
  BreakerSet,
  Change,
  DagId,
  DagSpec,
  Epoch,
  RateSpec,
  RequirementsChecked,
  RunCreated,
  RunId,
  ScheduleId,
  ScheduleSet,
  ShardNo,
  TaskExpired,
  TaskMarked,
  TaskNo,
  TaskSpec,
} from '@signalbox/engine';
import { NOBODY, readRunNotes, scheduleIdOf, shardOfRun } from '@signalbox/engine';
import type { JournalEntry, JournaledCommit } from '../fake-store/index.ts';
import { definitionWith } from './add-book.ts';
import { type DagBook, isCountedLoss, type RunBook, type ShardBook, type TaskBook } from './books.ts';
import { mapBook, taskSpecOf } from './map-book.ts';
import { SlotBook } from './slot-book.ts';
import { definitionUpTo } from './until-book.ts';

export class Ledger {
  readonly runs = new Map<RunId, RunBook>();
  readonly live = new Set<RunBook>();
  readonly byUid = new Map<string, RunBook>();
  readonly dags = new Map<DagId, DagBook>();
  readonly schedules = new Map<ScheduleId, ScheduleSet & { decidedUntil: number; fired: number }>();
  readonly shards = new Map<ShardNo, ShardBook>();
  /** Those that are not closed, by dag and fingerprint. */
  readonly breakers = new Map<string, BreakerSet>();
  /** Limits that span shards. */
  readonly slots = new SlotBook(this.live);
  /** Simulated time of the commit at hand. */
  at = 0;

  shard(shard: ShardNo): ShardBook {
    let book = this.shards.get(shard);
    if (book === undefined) {
      book = { epoch: 0 as Epoch, owner: null, ownedSince: 0, commitNo: 0, takeCount: 0 };
      this.shards.set(shard, book);
    }
    return book;
  }

  take(entry: Exclude<JournalEntry, JournaledCommit>): void {
    for (const { shard, epoch } of entry.taken) {
      const book = this.shard(shard);
      book.epoch = epoch;
      book.owner = entry.kind === 'take' ? entry.nodeId : null;
      book.ownedSince = entry.committedAt;
      if (entry.kind === 'take') book.takeCount += 1;
    }
  }

  /** How many more attempts of the task its own limits allow: that of the task over all runs, and that of its run. */
  ownRoom(run: RunBook, taskNo: number): number {
    const { name, maxActive } = taskSpecOf(run, taskNo);
    const { maxActiveTasksPerRun: perRun } = run.spec;
    const ofRun = perRun === undefined ? Number.POSITIVE_INFINITY : perRun - this.#running(run, () => true);
    if (maxActive === undefined) return ofRun;
    // The limit is that of the newest version, and counts runs of versions that have one.
    const current = this.dags.get(run.created.dagId)?.spec.tasks.find((task) => task.name === name);
    const most = current === undefined ? maxActive : (current.maxActive ?? Number.POSITIVE_INFINITY);
    let running = 0;
    for (const other of this.live) {
      if (other.created.dagId !== run.created.dagId || other.isSetAside) continue;
      running += this.#running(other, (spec) => spec.name === name && spec.maxActive !== undefined);
    }
    return Math.min(ofRun, most - running);
  }

  /** What limits the starts of a task per time: what the newest version says, of the task and of the dag. */
  ratesOf(run: RunBook, taskNo: number): { readonly key: string; readonly rate: RateSpec }[] {
    const { dagId } = run.created;
    const { name, rate: own } = taskSpecOf(run, taskNo);
    const newest = this.dags.get(dagId)?.spec;
    const found: { key: string; rate: RateSpec }[] = [];
    if (newest?.rate !== undefined) found.push({ key: `dag ${dagId}`, rate: newest.rate });
    if (own === undefined) return found;
    const current = newest?.tasks.find((task) => task.name === name);
    const rate = current === undefined ? own : current.rate;
    if (rate !== undefined) found.push({ key: `task ${name} of dag ${dagId}`, rate });
    return found;
  }

  #running(run: RunBook, isCounted: (task: TaskSpec) => boolean): number {
    let count = 0;
    for (const { taskNo, state, speculative } of run.tasks.values())
      if (state === 'running' && isCounted(taskSpecOf(run, taskNo))) count += speculative === null ? 1 : 2;
    return count;
  }

  /** One change of a commit; what is impossible is for the checkers to say, before this is called. */
  apply(change: Change): void {
    const run = 'runId' in change && change.runId !== null ? this.runs.get(change.runId) : undefined;
    if (run !== undefined) run.derived = null;
    this.slots.apply(change);
    switch (change.kind) {
      case 'DagDeployed': {
        const { dagId, tenantId, name, spec, versionNo } = change;
        const known = this.dags.get(dagId);
        if (known === undefined) {
          const versions = new Map<number, DagSpec>([[versionNo, spec]]);
          const book = { dagId, tenantId, name, spec, versionNo, versions };
          this.dags.set(dagId, { ...book, deployedAt: this.at, isRetired: false });
          return;
        }
        known.versions.set(versionNo, spec);
        Object.assign(known, { spec, versionNo, deployedAt: this.at, isRetired: false });
        return;
      }
      case 'DagRetired':
      case 'DagRevived':
        this.dag(change.dagId).isRetired = change.kind === 'DagRetired';
        return;
      case 'ScheduleSet':
        this.schedules.set(scheduleIdOf(change), { ...change });
        return;
      case 'ScheduleRemoved':
        this.schedules.delete(scheduleIdOf(change));
        return;
      case 'WindowDecided': {
        const schedule = this.schedules.get(scheduleIdOf(change));
        if (schedule === undefined) return;
        schedule.decidedUntil = Math.max(schedule.decidedUntil, change.untilAt) as typeof schedule.decidedUntil;
        if (change.runId !== null) schedule.fired += 1;
        return;
      }
      case 'RunCreated':
        return this.#create(change);
      case 'RunAdmitted':
        this.run(change.runId).isAdmitted = true;
        return;
      case 'RunYielded':
        this.run(change.runId).isAdmitted = false;
        return;
      case 'RequirementsChecked':
        return this.#letGo(change);
      case 'PastChecked':
        this.run(change.runId).past = readRunNotes(change.notes).past ?? null;
        return;
      case 'AttemptClaimed': {
        const run = this.run(change.runId);
        const before = run.tasks.get(change.taskNo);
        run.tasks.set(change.taskNo, {
          taskNo: change.taskNo,
          state: change.workerId === NOBODY ? 'waiting' : 'running',
          fence: change.fence,
          attemptNo: change.attemptNo,
          workerId: change.workerId,
          claimedAt: this.at,
          claimEpoch: this.shard(run.shard).epoch,
          failures: before?.failures ?? 0,
          lost: before?.lost ?? 0,
          counts: before?.counts ?? new Map(),
          ended: before?.ended ?? new Map(),
          endedAt: before?.endedAt ?? 0,
          endEpoch: before?.endEpoch ?? 0,
          slowTimes: before?.slowTimes ?? 0,
          failedAs: null,
          output: null,
          outputs: before?.outputs ?? new Set(),
          beside: before?.beside ?? new Map(),
          speculative: null,
          topFence: change.fence,
          topNo: change.attemptNo,
        });
        return;
      }
      case 'ClaimReturned': {
        const task = this.task(change);
        // In a run that is closed it is cancelled like all that have not begun, and goes on with them if that is opened again.
        task.state = 'returned';
        task.attemptNo -= 1;
        task.topNo = task.attemptNo;
        return;
      }
      case 'SpeculativeClaimed': {
        const { fence, attemptNo, workerId } = change;
        const task = this.task(change);
        const claimEpoch = this.shard(shardOfRun(change.runId)).epoch;
        task.speculative = { fence, attemptNo, workerId, claimedAt: this.at, claimEpoch };
        Object.assign(task, { topFence: fence, topNo: attemptNo });
        return;
      }
      case 'SpeculativeReturned': {
        const task = this.task(change);
        task.speculative = null;
        task.topNo -= 1;
        return;
      }
      case 'SpeculativeEnded':
      case 'SpeculativeTookOver': {
        const task = this.task(change);
        task.beside.set(change.fence, change);
        if (change.kind === 'SpeculativeTookOver') Object.assign(task, task.speculative);
        task.speculative = null;
        return;
      }
      case 'AttemptEnded': {
        const task = this.task(change);
        task.state = change.taskState;
        task.ended.set(change.fence, change);
        task.failedAs = change.taskState === 'failed' ? change.outcome : null;
        task.endedAt = this.at;
        task.endEpoch = this.shard(shardOfRun(change.runId)).epoch;
        task.counts.set(change.outcome, (task.counts.get(change.outcome) ?? 0) + 1);
        if (isCountedLoss(change)) task.lost += 1;
        else if (change.outcome !== 'succeeded' && change.outcome !== 'lost') task.failures += 1;
        if (change.taskState !== 'succeeded') return;
        task.output = change.output;
        if (change.output !== null) task.outputs.add(change.output);
        return;
      }
      case 'TaskExpired':
        return this.#expire(change);
      case 'TaskSlow':
        this.task(change).slowTimes += 1;
        return;
      case 'RunSlow':
        this.run(change.runId).slowTimes += 1;
        return;
      case 'RunTimedOut':
        this.run(change.runId).timedOutAt = this.at;
        return;
      case 'RunClosing':
        Object.assign(this.run(change.runId), { phase: 'closing', outcome: change.outcome, closedAt: this.at });
        this.run(change.runId).graceMs = change.graceMs ?? 0;
        return;
      case 'RunForced':
        Object.assign(this.run(change.runId), { isForced: true, closedAt: this.at });
        return;
      case 'RunEnded': {
        const run = this.run(change.runId);
        run.phase = 'ended';
        this.live.delete(run);
        return;
      }
      case 'TaskCleared': {
        const task = this.task(change);
        task.state = 'cleared';
        task.output = null;
        if (change.from === 'succeeded') this.run(change.runId).byHand = true;
        if (change.freshBudget) {
          Object.assign(task, { failures: 0, lost: 0 });
          task.counts.clear();
        }
        return;
      }
      case 'TaskMarked':
        return this.#mark(change);
      case 'PauseSet': {
        const { paused } = this.run(change.runId);
        if (change.paused) paused.add(change.taskNo);
        else paused.delete(change.taskNo);
        return;
      }
      case 'PrioritySet': {
        const run = this.run(change.runId);
        run.priority = change.priority;
        run.priorities.add(change.priority);
        return;
      }
      case 'RunReopened': {
        const run = this.run(change.runId);
        const phase = change.asClosing ? { phase: 'closing' } : { phase: 'open', outcome: null };
        Object.assign(run, {
          ...phase,
          isForced: false,
          closedAt: this.at,
          isAdmitted: change.admitted,
          openedAt: this.at,
        });
        if (change.asClosing !== true) Object.assign(run, { past: null, requires: null });
        if (change.asClosing !== true) run.reopens += 1;
        this.live.add(run);
        return;
      }
      case 'TasksAdded':
      case 'TasksDropped': {
        const run = this.run(change.runId);
        for (const one of change.tasks) run.added.set(one.no, one);
        run.spec = definitionWith(run.deployed, run.added);
        return;
      }
      case 'MapExpanded':
        this.run(change.runId).maps.push(mapBook(change, this.run(change.runId).spec));
        return;
      case 'MapUnfolded':
      case 'MapRemoved': {
        const map = this.run(change.runId).maps.find(({ firstNo }) => firstNo === change.firstNo);
        if (map !== undefined)
          Object.assign(map, change.kind === 'MapUnfolded' ? { unfolded: change.until } : { isRemoved: true });
        return;
      }
      case 'RunStruck':
        this.run(change.runId).isSetAside = change.setAside;
        return;
      case 'BreakerSet': {
        const key = `${change.dagId}/${change.fingerprint ?? 0}`;
        if (change.state === 'closed') this.breakers.delete(key);
        else this.breakers.set(key, change);
        return;
      }
      case 'KeyStored':
      case 'RunKeySet':
      case 'RateUsed':
      case 'RateFreed':
      case 'ExpectationSet':
      case 'ExpectationRemoved':
      case 'EventMissed':
      case 'AssetProduced':
      case 'AssetTold':
      case 'AssetTaken':
      case 'EventHeld':
      case 'EventsReleased':
      case 'WorkerSilenced':
      case 'WorkerHeardAgain':
        return;
    }
  }

  #letGo({ runId, notes }: RequirementsChecked): void {
    const run = this.run(runId);
    // Its time is over, and it fails: what has not begun never will.
    if (run.requires?.unmet === 'fail' && readRunNotes(notes).unmet !== undefined) run.timedOutAt = this.at;
    run.requires = null;
  }

  run(runId: RunId): RunBook {
    const run = this.runs.get(runId);
    if (run === undefined) throw new Error(`the journal speaks of run ${runId}, which was never created`);
    return run;
  }

  dag(dagId: DagId): DagBook {
    const dag = this.dags.get(dagId);
    if (dag === undefined) throw new Error(`the journal speaks of dag ${dagId}, which was never deployed`);
    return dag;
  }

  task({ runId, taskNo }: { readonly runId: RunId; readonly taskNo: TaskNo }): TaskBook {
    const task = this.run(runId).tasks.get(taskNo);
    if (task === undefined) throw new Error(`the journal speaks of task ${runId}/${taskNo}, which was never claimed`);
    return task;
  }

  /** What holds back a task that would be tried again after this end, or its dag. */
  breakerOf({ created }: RunBook, last: AttemptEnded | undefined): BreakerSet | undefined {
    const ofError = this.breakers.get(`${created.dagId}/${last?.fingerprint ?? 'none'}`);
    return ofError ?? this.breakers.get(`${created.dagId}/0`);
  }

  #mark({ runId, taskNo, attemptNo, fence, state, output }: TaskMarked): void {
    const { tasks, shard } = this.run(runId);
    this.run(runId).byHand = true;
    const before = tasks.get(taskNo);
    tasks.set(taskNo, {
      ...{ workerId: NOBODY, claimedAt: this.at, claimEpoch: this.shard(shard).epoch },
      ...{
        failures: 0,
        lost: 0,
        counts: new Map(),
        ended: new Map(),
        endEpoch: 0,
        slowTimes: 0,
        failedAs: null,
        outputs: new Set<string>(),
      },
      ...{ beside: new Map(), speculative: null, topNo: 0 },
      ...before,
      ...{ taskNo, attemptNo, fence, output, topFence: fence, failedAs: null },
      state: state === 'cancelled' ? 'stopped' : state,
      endedAt: this.at,
    });
    if (output !== null) tasks.get(taskNo)?.outputs.add(output);
  }

  #expire({ runId, taskNo, attemptNo }: TaskExpired): void {
    const { tasks, shard } = this.run(runId);
    tasks.set(taskNo, {
      ...{ workerId: NOBODY, claimedAt: this.at, claimEpoch: this.shard(shard).epoch, fence: 0 },
      ...{
        failures: 0,
        lost: 0,
        counts: new Map(),
        ended: new Map(),
        endEpoch: 0,
        slowTimes: 0,
        failedAs: null,
        output: null,
        outputs: new Set<string>(),
        beside: new Map(),
        speculative: null,
        topFence: 0,
        topNo: attemptNo,
      },
      ...tasks.get(taskNo),
      ...{ taskNo, attemptNo, state: 'expired', endedAt: this.at, failedAs: 'timeout' },
    });
  }

  #create(change: RunCreated): void {
    const version = this.dags.get(change.dagId)?.versions.get(change.versionNo);
    if (version === undefined) throw new Error(`run ${change.runId} has a version that was never deployed`);
    const spec = definitionUpTo(version, change.until);
    const run: RunBook = {
      created: change,
      createdAt: this.at,
      priority: change.priority,
      priorities: new Set([change.priority]),
      shard: shardOfRun(change.runId),
      spec,
      deployed: spec,
      added: new Map(),
      phase: 'open',
      outcome: null,
      isAdmitted: change.admitted,
      isSetAside: false,
      isForced: false,
      slowTimes: 0,
      reopens: 0,
      graceMs: 0,
      closedAt: 0,
      timedOutAt: null,
      openedAt: this.at,
      byHand: false,
      past: null,
      requires: change.requires ?? null,
      paused: new Set(),
      tasks: new Map(),
      derived: null,
      maps: [],
    };
    this.runs.set(change.runId, run);
    this.byUid.set(change.uid, run);
    this.live.add(run);
  }
}

/**
 * The books of the checkers: what is committed, built up from the journal alone, change by change, in the plainest way. It
 * shares no code with engine or store, so that the two can be held against each other.
 */
import type {
  AddedTask,
  AttemptEnded,
  BreakerSet,
  Change,
  DagId,
  DagSpec,
  Epoch,
  NodeId,
  RunCreated,
  RunId,
  RunOutcome,
  ScheduleSet,
  SecondEnded,
  SecondTookOver,
  ShardNo,
  TaskExpired,
  TaskMarked,
  TaskNo,
  TaskState,
  WorkerId,
} from '@signalbox/engine';
import { NOBODY, shardOfRun } from '@signalbox/engine';
import { isClosing, type NaiveEnd, naiveClosingNodes, naiveName, naiveNodes } from '@signalbox/engine/testing';
import type { JournalEntry, JournaledCommit } from '../fake-store/index.ts';
import { definitionWith } from './add-book.ts';
import { expansionOf, type MapBook, mapBook, nameOf, numbersOf, taskSpecOf } from './map-book.ts';

export interface TaskBook {
  readonly taskNo: TaskNo;
  /** `waiting`: a call of another dag, which no worker has. */
  state:
    | 'running'
    | 'waiting'
    | 'returned'
    | 'retrying'
    | 'succeeded'
    | 'failed'
    | 'expired'
    | 'cancelled'
    | 'cleared'
    | 'skipped'
    | 'stopped';
  fence: number;
  /** Attempts that have ended, and the running one. */
  attemptNo: number;
  workerId: WorkerId;
  claimedAt: number;
  /** Owner's epoch when it was claimed. */
  claimEpoch: number;
  failures: number;
  lost: number;
  /** How its attempts ended since its budgets began. */
  readonly counts: Map<string, number>;
  /** Each attempt that has ended, by its fence. */
  readonly ended: Map<number, AttemptEnded>;
  /** Those that ended while another went on, or in favour of it: they count for nothing. */
  readonly beside: Map<number, SecondEnded | SecondTookOver>;
  /** The second of two that run. */
  second: Pick<TaskBook, 'fence' | 'attemptNo' | 'workerId' | 'claimedAt' | 'claimEpoch'> | null;
  /** The highest fence and number so far, whichever of two had it. */
  topFence: number;
  topNo: number;
  endedAt: number;
  endEpoch: number;
  /** How many of its attempts were told of as slow. */
  slowTimes: number;
  output: string | null;
  /** All that it has ever returned, or was said to have. */
  readonly outputs: Set<string>;
}

export interface RunBook {
  readonly created: RunCreated;
  readonly createdAt: number;
  readonly shard: ShardNo;
  /** With what was added to it. */
  spec: DagSpec;
  readonly deployed: DagSpec;
  readonly added: Map<number, AddedTask>;
  phase: 'open' | 'closing' | 'ended';
  outcome: RunOutcome | null;
  isAdmitted: boolean;
  isSetAside: boolean;
  /** Somebody did not want to wait for what closes it. */
  isForced: boolean;
  /** How often it was told of as slow, and was opened again. */
  slowTimes: number;
  reopens: number;
  /** What its attempts are given to stop, where a cancel has said so. */
  graceMs: number;
  closedAt: number;
  /** When its time was over, the last time. */
  timedOutAt: number | null;
  /** Tasks of it that had succeeded were cleared, or some were marked. */
  byHand: boolean;
  /** Tasks that are; null for the run itself. */
  readonly paused: Set<TaskNo | null>;
  /** When it was opened, the last time. */
  openedAt: number;
  readonly tasks: Map<TaskNo, TaskBook>;
  /** What the tasks are; null when that is to be found out anew. */
  states: ReadonlyMap<number, string> | null;
  /** In the order in which they expanded. */
  readonly maps: MapBook[];
}

/** An attempt that went with a worker that was told to stop counts against no budget. */
export function isCountedLoss({ outcome, code }: Pick<AttemptEnded, 'outcome' | 'code'>): boolean {
  return outcome === 'lost' && code !== 'lost:left' && code !== 'lost:drained';
}

/** Somebody holds the task, or its run. */
export function isPaused({ paused }: RunBook, taskNo: number): boolean {
  return paused.has(null) || paused.has(taskNo as TaskNo);
}

export interface DagBook {
  readonly dagId: DagId;
  readonly name: string;
  spec: DagSpec;
  versionNo: number;
  readonly versions: Map<number, DagSpec>;
  deployedAt: number;
  isRetired: boolean;
}

export interface ShardBook {
  epoch: Epoch;
  owner: NodeId | null;
  ownedSince: number;
  commitNo: number;
  takeCount: number;
}

export class Ledger {
  readonly runs = new Map<RunId, RunBook>();
  readonly live = new Set<RunBook>();
  readonly byUid = new Map<string, RunBook>();
  readonly dags = new Map<DagId, DagBook>();
  readonly schedules = new Map<DagId, ScheduleSet & { decidedUntil: number }>();
  readonly shards = new Map<ShardNo, ShardBook>();
  /** Those that are not closed, by dag and fingerprint. */
  readonly breakers = new Map<string, BreakerSet>();
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

  /** One change of a commit; what is impossible is for the checkers to say, before this is called. */
  apply(change: Change): void {
    const run = 'runId' in change && change.runId !== null ? this.runs.get(change.runId) : undefined;
    if (run !== undefined) run.states = null;
    switch (change.kind) {
      case 'DagDeployed': {
        const { dagId, name, spec, versionNo } = change;
        const known = this.dags.get(dagId);
        if (known === undefined) {
          const versions = new Map<number, DagSpec>([[versionNo, spec]]);
          this.dags.set(dagId, { dagId, name, spec, versionNo, versions, deployedAt: this.at, isRetired: false });
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
        this.schedules.set(change.dagId, { ...change });
        return;
      case 'ScheduleRemoved':
        this.schedules.delete(change.dagId);
        return;
      case 'WindowDecided': {
        const schedule = this.schedules.get(change.dagId);
        if (schedule !== undefined)
          schedule.decidedUntil = Math.max(schedule.decidedUntil, change.untilAt) as typeof schedule.decidedUntil;
        return;
      }
      case 'RunCreated':
        return this.#create(change);
      case 'RunAdmitted':
        this.run(change.runId).isAdmitted = true;
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
          output: null,
          outputs: before?.outputs ?? new Set(),
          beside: before?.beside ?? new Map(),
          second: null,
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
      case 'SecondClaimed': {
        const { fence, attemptNo, workerId } = change;
        const task = this.task(change);
        const claimEpoch = this.shard(shardOfRun(change.runId)).epoch;
        task.second = { fence, attemptNo, workerId, claimedAt: this.at, claimEpoch };
        Object.assign(task, { topFence: fence, topNo: attemptNo });
        return;
      }
      case 'SecondReturned': {
        const task = this.task(change);
        task.second = null;
        task.topNo -= 1;
        return;
      }
      case 'SecondEnded':
      case 'SecondTookOver': {
        const task = this.task(change);
        task.beside.set(change.fence, change);
        if (change.kind === 'SecondTookOver') Object.assign(task, task.second);
        task.second = null;
        return;
      }
      case 'AttemptEnded': {
        const task = this.task(change);
        task.state = change.taskState;
        task.ended.set(change.fence, change);
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
      case 'WorkerSilenced':
      case 'WorkerHeardAgain':
        return;
    }
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

  /** What a task is, rows or not. */
  stateOf(run: RunBook, taskNo: number): TaskState {
    run.states ??= statesOf(run);
    return (run.states.get(taskNo) ?? 'removed') as TaskState;
  }

  /** Whether instances that a map will have are not there yet: what comes after them may look further on than it is. */
  isUnfolding(run: RunBook): boolean {
    if (run.spec.groups === undefined) return false;
    const numbers = numbersOf(run);
    return [...namedStates(run).keys()].some((name) => !numbers.has(name));
  }

  /** Of all tasks that are there, by their numbers. */
  statesOf(run: RunBook): ReadonlyMap<number, string> {
    run.states ??= statesOf(run);
    return run.states;
  }

  /** How many instances a task of a map has, in an instance of what is around it. */
  instancesOf(run: RunBook, member: number, path: readonly number[]): number {
    const states = namedStates(run);
    let count = 0;
    while (states.has(naiveName(member, [...path, count]))) count += 1;
    return count;
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
        outputs: new Set<string>(),
      },
      ...{ beside: new Map(), second: null, topNo: 0 },
      ...before,
      ...{ taskNo, attemptNo, fence, output, topFence: fence },
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
        output: null,
        outputs: new Set<string>(),
        beside: new Map(),
        second: null,
        topFence: 0,
        topNo: attemptNo,
      },
      ...tasks.get(taskNo),
      ...{ taskNo, attemptNo, state: 'expired', endedAt: this.at },
    });
  }

  #create(change: RunCreated): void {
    const spec = this.dags.get(change.dagId)?.versions.get(change.versionNo);
    if (spec === undefined) throw new Error(`run ${change.runId} has a version that was never deployed`);
    const run: RunBook = {
      created: change,
      createdAt: this.at,
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
      paused: new Set(),
      tasks: new Map(),
      states: null,
      maps: [],
    };
    this.runs.set(change.runId, run);
    this.byUid.set(change.uid, run);
    this.live.add(run);
  }
}

/** Whether attempts of the task may begin. */
export function mayRun(run: RunBook, taskNo: number): boolean {
  if (run.phase === 'open') return true;
  return run.phase === 'closing' && !run.isForced && isClosing(taskSpecOf(run, taskNo));
}

/** Everything is looked at anew, by the plainest means. */
function namedStates(run: RunBook): ReadonlyMap<string, string> {
  const ended = new Map<string, NaiveEnd>();
  for (const { taskNo, state, output } of run.tasks.values()) {
    const name = nameOf(run, taskNo);
    if (state === 'cleared' || name === null) continue;
    const isOver = state === 'succeeded' || state === 'failed' || state === 'skipped';
    const end = isOver ? state : state === 'expired' ? 'failed' : state === 'stopped' ? 'cancelled' : 'open';
    ended.set(name, { state: end, output: output === null ? null : JSON.parse(output) });
  }
  const params: unknown = run.created.params === null ? null : JSON.parse(run.created.params);
  return naiveNodes(run.spec, ended, params);
}

/** By the books a map expands as soon as it can, and at once. Here it is as far as the journal says. */
function asFarAs(run: RunBook, no: number, name: string, named: ReadonlyMap<string, string>): string {
  const state = named.get(name) ?? 'removed';
  if (!named.has(`${name}[0]`)) return state;
  const map = expansionOf(run, no);
  if (map === null) return 'blocked';
  return map.unfolded < map.total ? 'expanded' : state;
}

function statesOf(run: RunBook): ReadonlyMap<number, string> {
  const [named, numbers] = [namedStates(run), numbersOf(run)];
  const states = new Map<number, string>();
  for (const [name, no] of numbers) {
    const state = asFarAs(run, no, name, named);
    const row = run.tasks.get(no as TaskNo);
    const now = state !== 'open' ? state : row?.state === 'returned' ? 'ready' : (row?.state ?? state);
    const isLeft = now === 'blocked' || now === 'ready' || now === 'retrying';
    states.set(no, isLeft && !mayRun(run, no) ? 'cancelled' : now);
  }
  if (run.phase !== 'open') cancelExpanded(run, numbers, states);
  return run.spec.tasks.some(isClosing) ? withClosing(run, numbers, states) : states;
}

/** What has become many was stopped when the last of them was. */
function cancelExpanded(run: RunBook, numbers: ReadonlyMap<string, number>, states: Map<number, string>): void {
  const isOpen = (state: string | undefined) => state === 'running' || state === 'waiting';
  const open = [...numbers].filter(([, no]) => isOpen(states.get(no))).map(([name]) => name);
  for (const [name, no] of numbers) {
    if (states.get(no) !== 'expanded' || mayRun(run, no) || open.some((each) => each.startsWith(`${name}[`))) continue;
    states.set(no, 'cancelled');
  }
}

function withClosing(
  run: RunBook,
  numbers: ReadonlyMap<string, number>,
  states: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  const rows = [...run.tasks.values()].flatMap((row) => {
    const name = row.state === 'cleared' ? null : nameOf(run, row.taskNo);
    return name === null ? [] : [{ name, row }];
  });
  const begun = new Set(rows.map(({ name }) => name));
  const tried = new Set(rows.flatMap(({ name, row }) => (row.attemptNo > 0 ? [name] : [])));
  const stopped = new Set(rows.flatMap(({ name, row }) => (row.state === 'stopped' ? [name] : [])));
  const known = new Map(
    [...numbers].map(([name, no]) => [name, stopped.has(name) ? 'stopped' : (states.get(no) ?? 'blocked')]),
  );
  const times = (on: 'retry' | 'slow', of: string | null) => timesOf(run, on, of === null ? null : numbers.get(of)!);
  const isWhole = (name: string) => {
    const map = expansionOf(run, numbers.get(name)!);
    return map === null || map.total === 0 ? null : map.unfolded === map.total;
  };
  const found = naiveClosingNodes(run.spec, known, { ...run, begun, tried, times, isWhole });
  return new Map([...numbers].map(([name, no]) => [no, found.get(name)!]));
}

/** How often that has happened which a hook for retries, or for what is slow, runs for. */
export function timesOf(run: RunBook, on: 'retry' | 'slow', of: number | null): number {
  if (of === null) return on === 'slow' ? run.slowTimes : run.reopens;
  const task = run.tasks.get(of as TaskNo);
  if (task === undefined || on === 'slow') return task?.slowTimes ?? 0;
  const isFollowed = ['retrying', 'cleared', 'returned', 'expired'].includes(task.state);
  // What ended beside another attempt was followed by none.
  const beside = [...task.beside.values()].filter((other) => other.attemptNo < task.attemptNo).length;
  return isFollowed ? task.attemptNo - beside : Math.max(0, task.attemptNo - beside - 1);
}

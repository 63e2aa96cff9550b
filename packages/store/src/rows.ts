/**
 * Folds the changes of a batch into rows: one insert, update or delete per row, whatever happened to it within the batch.
 *
 * A run that was created here is inserted as it is at the end of the batch; one that was also ended here never has a
 * `live_run` row. A task is inserted if its first claim is here. Its row shows its newest attempt; an attempt after which
 * the task is tried again also gets an `attempt` row when it ends, for the next claim will overwrite the task's.
 *
 * What people do to runs by hand (opening them again, clearing tasks) is not folded: see `partsOf`.
 */
import type {
  AddedTask,
  AttemptClaimed,
  AttemptEnded,
  AttemptExtended,
  AttemptNo,
  BreakerSet,
  CallbackDue,
  Change,
  CheckpointSaved,
  ClaimReturned,
  DagDeployed,
  DagId,
  DeadLetterClosed,
  DeadLetterWritten,
  Instant,
  KeyStored,
  MapExpanded,
  MapRemoved,
  MapUnfolded,
  PauseSet,
  RunAdmitted,
  RunClosing,
  RunCreated,
  RunEnded,
  RunForced,
  RunId,
  RunReopened,
  RunStruck,
  ScheduleRemoved,
  ScheduleSet,
  SecondClaimed,
  SecondEnded,
  SecondReturned,
  SecondTookOver,
  ShardNo,
  TaskCleared,
  TaskExpired,
  TaskMarked,
  TaskNo,
  TaskQueued,
  TaskSlow,
  TasksAdded,
  TasksDropped,
  TenantId,
  WindowDecided,
  WorkerId,
} from '@signalbox/engine';
import { notesCreated } from '@signalbox/engine';

/** What became of one run in this batch. */
export interface RunFold {
  readonly runId: RunId;
  created: RunCreated | null;
  admitted: RunAdmitted | null;
  closing: RunClosing | null;
  ended: RunEnded | null;
  struck: RunStruck | null;
  claimed: boolean;
  tasks: Map<TaskNo, TaskFold> | null;
}

/** What became of one task. The last of the three decides how its row looks. */
export interface TaskFold {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly isNew: boolean;
  claim: AttemptClaimed | null;
  /** The last end in this batch: it knows the count of lost attempts also after another claim. */
  end: AttemptEnded | null;
  /** As JSON, when a change of this batch has altered them. */
  notes: string | null;
  last: AttemptClaimed | ClaimReturned | AttemptEnded;
}

/** What became of one dag. */
export interface DagFold {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  deploy: DagDeployed | null;
  retiredAt: Instant | null;
  /** The event that makes runs of it, from here on. */
  trigger: { readonly tenantId: TenantId; readonly event: string } | null;
}

export interface ScheduleFold {
  readonly shard: ShardNo;
  readonly dagId: ScheduleSet['dagId'];
  set: ScheduleSet | null;
  removed: ScheduleRemoved | null;
  /** One was removed in this batch, whatever came after it. */
  removedUntil: Instant | null;
  /** The last window decided since `set`, or in the whole batch when there was none. */
  decidedUntil: Instant | null;
}

export interface SilenceFold {
  readonly shard: ShardNo;
  readonly workerId: WorkerId;
  /** It was heard in this batch: an older row goes. */
  heard: boolean;
  /** It is silent at the end of the batch. */
  silent: boolean;
}

/** What became of one expansion of a map. */
export interface MapFold {
  readonly runId: RunId;
  readonly firstNo: number;
  expanded: MapExpanded | null;
  /** Instances that are there at the end of the batch; null when that was not changed. */
  until: number | null;
  removed: MapRemoved | null;
}

export interface PayloadRow {
  readonly runId: RunId;
  /** Null for params. */
  readonly taskNo: TaskNo | null;
  readonly body: string;
}

/** The last notes of a task in this batch. */
export interface TaskNote {
  readonly runId: RunId;
  readonly taskNo: TaskNo;
  readonly isNew: boolean;
  /** Of a task that expired: its newest attempt that began. */
  readonly expiredAfter: AttemptNo | null;
  readonly notes: string;
  /** Of the first. */
  readonly at: Instant;
}

/** An attempt that has ended, and that the row of its task does not show. */
export type AttemptRow = Omit<SecondEnded, 'kind' | 'notes'> & {
  readonly retryAt: Instant | null;
  readonly fingerprint: AttemptEnded['fingerprint'];
  readonly speculative?: boolean;
};

export interface RunNote {
  readonly runId: RunId;
  readonly notes: string;
}

/** What was added to a run, by the numbers of the tasks. */
export interface AddedFold {
  readonly runId: RunId;
  readonly tasks: Map<number, AddedTask>;
}

export interface FoldedRows {
  readonly deploys: DagDeployed[];
  readonly dags: Map<DagId, DagFold>;
  readonly schedules: Map<number, ScheduleFold>;
  readonly windows: WindowDecided[];
  readonly runs: Map<RunId, RunFold>;
  readonly keys: KeyStored[];
  /** Those that another follows, or goes on beside. */
  readonly supersededAttempts: AttemptRow[];
  /** Where a second attempt has taken the place of the first. */
  readonly takenOver: SecondTookOver[];
  readonly payloads: PayloadRow[];
  readonly silence: Map<string, SilenceFold>;
  readonly reopened: RunReopened[];
  readonly forced: RunForced[];
  readonly cleared: TaskCleared[];
  /** The last failure of each task, by run and number: written beside the row, so that what succeeds pays nothing for it. */
  readonly failures: Map<string, AttemptEnded>;
  readonly deadLetters: DeadLetterWritten[];
  readonly callbacks: CallbackDue[];
  readonly closedDeadLetters: DeadLetterClosed[];
  /** The last of each, by dag and fingerprint. */
  readonly breakers: Map<string, BreakerSet>;
  readonly marked: TaskMarked[];
  readonly pauses: PauseSet[];
  /** Outputs of tasks that may have had one before; null where there is none any more (I36). */
  readonly replaced: (Omit<PayloadRow, 'body'> & { readonly body: string | null })[];
  /** The last one of each task. */
  readonly checkpoints: Map<string, CheckpointSaved>;
  readonly maps: Map<string, MapFold>;
  readonly added: Map<RunId, AddedFold>;
  /** By run and task. */
  readonly taskNotes: Map<string, TaskNote>;
  readonly runNotes: Map<RunId, RunNote>;
}

/**
 * What is done by hand, or noted of times, needs the row as it was left: it goes with no other change of its run. So a batch that holds such is
 * written in parts, one after the other; all others, which is nearly all of them, in one.
 */
export function partsOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  if (changes.every((change) => groupOf(change) === 'plain')) return [changes];
  const parts: Change[][] = [[]];
  let groups = new Map<RunId, Group>();
  let rows = new Set<string>();
  for (const change of changes) {
    const runId = 'runId' in change ? change.runId : null;
    const group = groupOf(change);
    const row = isManual(change) ? manualRow(change) : isSecond(change) ? `${change.runId}/${change.taskNo}` : '';
    if (runId !== null && ((groups.get(runId) ?? group) !== group || rows.has(row))) {
      parts.push([]);
      [groups, rows] = [new Map(), new Set()];
    }
    parts.at(-1)?.push(change);
    if (runId !== null) groups.set(runId, group);
    if (row !== '') rows.add(row);
  }
  return parts;
}

type Group = 'plain' | 'manual' | 'notes' | 'seconds';
type ManualChange = RunReopened | RunForced | TaskCleared | TaskMarked | PauseSet;

const MANUAL: ReadonlySet<Change['kind']> = new Set([
  'RunReopened',
  'RunForced',
  'TaskCleared',
  'TaskMarked',
  'PauseSet',
]);
type SecondChange = SecondClaimed | SecondReturned | SecondEnded | SecondTookOver;
const SECONDS: ReadonlySet<Change['kind']> = new Set([
  'SecondClaimed',
  'SecondReturned',
  'SecondEnded',
  'SecondTookOver',
]);
const NOTES: ReadonlySet<Change['kind']> = new Set([
  'TaskQueued',
  'TaskExpired',
  'TaskSlow',
  'AttemptExtended',
  'RunSlow',
  'RunTimedOut',
]);

function groupOf(change: Change): Group {
  if (isManual(change)) return 'manual';
  if (isSecond(change)) return 'seconds';
  return NOTES.has(change.kind) ? 'notes' : 'plain';
}

function isSecond(change: Change): change is SecondChange {
  return SECONDS.has(change.kind);
}

function isManual(change: Change): change is ManualChange {
  return MANUAL.has(change.kind);
}

/** What it writes: once in a part, for a statement changes a row once. */
function manualRow(change: ManualChange): string {
  if (change.kind === 'TaskCleared' || change.kind === 'TaskMarked') return `${change.runId}/${change.taskNo}`;
  return `${change.runId} ${change.kind}`;
}

export function foldRows(changes: readonly Change[]): FoldedRows {
  const rows: FoldedRows = {
    deploys: [],
    dags: new Map(),
    schedules: new Map(),
    windows: [],
    runs: new Map(),
    keys: [],
    supersededAttempts: [],
    takenOver: [],
    payloads: [],
    silence: new Map(),
    reopened: [],
    forced: [],
    cleared: [],
    failures: new Map(),
    deadLetters: [],
    callbacks: [],
    closedDeadLetters: [],
    breakers: new Map(),
    marked: [],
    pauses: [],
    replaced: [],
    checkpoints: new Map(),
    maps: new Map(),
    added: new Map(),
    taskNotes: new Map(),
    runNotes: new Map(),
  };
  for (const change of changes) foldChange(rows, change);
  return rows;
}

function foldChange(rows: FoldedRows, change: Change): void {
  switch (change.kind) {
    case 'DagDeployed':
      rows.deploys.push(change);
      Object.assign(dagOf(rows, change), {
        deploy: change,
        retiredAt: null,
        trigger: triggerOf(change, change.spec.on),
      });
      return;
    case 'DagRetired':
      Object.assign(dagOf(rows, change), { retiredAt: change.at, trigger: null });
      return;
    case 'DagRevived': {
      const on = change.event === null ? undefined : { event: change.event };
      Object.assign(dagOf(rows, change), { retiredAt: null, trigger: triggerOf(change, on) });
      return;
    }
    case 'ScheduleSet':
      Object.assign(scheduleOf(rows, change), { set: change, removed: null, decidedUntil: change.decidedUntil });
      return;
    case 'ScheduleRemoved':
      Object.assign(scheduleOf(rows, change), {
        set: null,
        removed: change,
        removedUntil: change.decidedUntil,
        decidedUntil: null,
      });
      return;
    case 'WindowDecided':
      foldWindow(rows, change);
      return;
    case 'RunCreated':
      runOf(rows, change.runId).created = change;
      if (change.params !== null) rows.payloads.push({ runId: change.runId, taskNo: null, body: change.params });
      if (change.until !== undefined) noteCreated(rows, change);
      return;
    case 'RunAdmitted':
      runOf(rows, change.runId).admitted = change;
      return;
    case 'RunClosing':
      runOf(rows, change.runId).closing = change;
      return;
    case 'RunEnded':
      runOf(rows, change.runId).ended = change;
      return;
    case 'RunStruck':
      runOf(rows, change.runId).struck = change;
      return;
    case 'KeyStored':
      rows.keys.push(change);
      return;
    case 'AttemptClaimed':
    case 'ClaimReturned':
    case 'AttemptEnded':
      foldAttempt(rows, change);
      return;
    case 'RunReopened':
      rows.reopened.push(change);
      return;
    case 'RunForced':
      rows.forced.push(change);
      return;
    case 'TaskCleared':
      rows.cleared.push(change);
      return;
    case 'TaskQueued':
    case 'TaskExpired':
    case 'TaskSlow':
    case 'AttemptExtended':
      foldNotes(rows, change);
      return;
    case 'SecondClaimed':
    case 'SecondReturned':
    case 'SecondEnded':
    case 'SecondTookOver':
      return foldSecond(rows, change);
    case 'RunSlow':
    case 'RunTimedOut':
      rows.runNotes.set(change.runId, { runId: change.runId, notes: change.notes });
      return;
    case 'TaskMarked': {
      const { runId, taskNo, state, output: body } = change;
      rows.marked.push(change);
      if (state === 'succeeded') rows.replaced.push({ runId, taskNo, body });
      return;
    }
    case 'PauseSet':
      rows.pauses.push(change);
      return;
    case 'CheckpointSaved':
      rows.checkpoints.set(`${change.runId}/${change.taskNo}`, change);
      return;
    case 'ClaimAsserted':
      return;
    case 'TasksAdded':
    case 'TasksDropped':
      return foldAdded(rows, change);
    case 'MapExpanded':
    case 'MapUnfolded':
    case 'MapRemoved':
      return foldMap(rows, change);
    case 'CallbackDue':
      rows.callbacks.push(change);
      return;
    case 'DeadLetterWritten':
      rows.deadLetters.push(change);
      return;
    case 'DeadLetterClosed':
      rows.closedDeadLetters.push(change);
      return;
    case 'BreakerSet':
      rows.breakers.set(`${change.dagId}/${change.fingerprint ?? 0}`, change);
      return;
    case 'WorkerSilenced':
      silenceOf(rows, change).silent = true;
      return;
    case 'WorkerHeardAgain':
      Object.assign(silenceOf(rows, change), { heard: true, silent: false });
      return;
    default:
      throw new Error(`The store does not know how to keep ${JSON.stringify(change satisfies never)}.`);
  }
}

function foldAdded(rows: FoldedRows, { runId, tasks }: TasksAdded | TasksDropped): void {
  const fold = rows.added.get(runId) ?? { runId, tasks: new Map() };
  for (const task of tasks) fold.tasks.set(task.no, task);
  rows.added.set(runId, fold);
}

function foldWindow(rows: FoldedRows, change: WindowDecided): void {
  rows.windows.push(change);
  const schedule = scheduleOf(rows, change);
  // A schedule that was removed in this batch leaves its decided windows behind, and no row to move.
  if (schedule.removed !== null) return;
  const until = Math.max(change.firesAt, change.untilAt, schedule.decidedUntil ?? Number.NEGATIVE_INFINITY);
  schedule.decidedUntil = until as Instant;
}

function foldMap(rows: FoldedRows, change: MapExpanded | MapUnfolded | MapRemoved): void {
  const { runId, firstNo } = change;
  const key = `${runId}/${firstNo}`;
  const map = rows.maps.get(key) ?? { runId, firstNo, expanded: null, until: null, removed: null };
  rows.maps.set(key, map);
  if (change.kind === 'MapUnfolded') map.until = change.until;
  else if (change.kind === 'MapRemoved') map.removed = change;
  else {
    map.expanded = change;
    // It has rows beside its own: a load looks for them where it looks for tasks.
    runOf(rows, runId).claimed = true;
  }
}

function foldAttempt(rows: FoldedRows, change: AttemptClaimed | ClaimReturned | AttemptEnded): void {
  const run = runOf(rows, change.runId);
  run.tasks ??= new Map();
  let task = run.tasks.get(change.taskNo);
  if (task === undefined) {
    const isNew = change.kind === 'AttemptClaimed' && change.firstOfTask;
    task = { runId: change.runId, taskNo: change.taskNo, isNew, claim: null, end: null, notes: null, last: change };
    run.tasks.set(change.taskNo, task);
  }
  task.last = change;
  if (change.kind === 'AttemptClaimed') {
    task.claim = change;
    task.notes = change.notes ?? task.notes;
    if (change.firstOfRun) run.claimed = true;
  } else if (change.kind === 'AttemptEnded') {
    task.end = change;
    task.notes = change.notes ?? task.notes;
    if (change.fingerprint !== null) rows.failures.set(`${change.runId}/${change.taskNo}`, change);
    if (change.retryAt !== null) rows.supersededAttempts.push(change);
    // The output of the attempt that succeeded, and of no other (I36).
    if (change.outcome !== 'succeeded') return;
    const { runId, taskNo, output } = change;
    // Its first claim has no other before it; after that somebody may have cleared the task of an earlier success.
    if (change.fence > 1) rows.replaced.push({ runId, taskNo, body: output });
    else if (output !== null) rows.payloads.push({ runId, taskNo, body: output });
  }
}

function foldSecond(rows: FoldedRows, change: SecondChange): void {
  const { runId, taskNo, notes } = change;
  if (change.kind === 'SecondTookOver') rows.takenOver.push(change);
  else {
    const at = 'at' in change ? change.at : change.endedAt;
    rows.taskNotes.set(`${runId}/${taskNo}`, { runId, taskNo, isNew: false, expiredAfter: null, notes, at });
  }
  if (change.kind === 'SecondClaimed' || change.kind === 'SecondReturned') return;
  const speculative = change.kind === 'SecondEnded' || change.speculative === true;
  // Nothing was waited for.
  rows.supersededAttempts.push({ ...change, retryAt: change.endedAt, fingerprint: null, speculative });
}

function foldNotes(rows: FoldedRows, change: TaskQueued | TaskExpired | TaskSlow | AttemptExtended): void {
  const { runId, taskNo, notes, at } = change;
  const name = `${runId}/${taskNo}`;
  const before = rows.taskNotes.get(name);
  const isNew = before?.isNew ?? (change.kind === 'TaskQueued' && change.isNew);
  const expiredAfter = change.kind === 'TaskExpired' ? change.attemptNo : (before?.expiredAfter ?? null);
  rows.taskNotes.set(name, { runId, taskNo, isNew, expiredAfter, notes, at: before?.at ?? at });
}

function runOf(rows: FoldedRows, runId: RunId): RunFold {
  let run = rows.runs.get(runId);
  if (run === undefined) {
    run = {
      runId,
      created: null,
      admitted: null,
      closing: null,
      ended: null,
      struck: null,
      claimed: false,
      tasks: null,
    };
    rows.runs.set(runId, run);
  }
  return run;
}

function dagOf(rows: FoldedRows, { shard, dagId }: { shard: ShardNo; dagId: DagId }): DagFold {
  let dag = rows.dags.get(dagId);
  if (dag === undefined) {
    dag = { shard, dagId, deploy: null, retiredAt: null, trigger: null };
    rows.dags.set(dagId, dag);
  }
  return dag;
}

function triggerOf({ tenantId }: { tenantId: TenantId }, on: { event: string } | undefined): DagFold['trigger'] {
  return on === undefined ? null : { tenantId, event: on.event };
}

function scheduleOf(rows: FoldedRows, { shard, dagId }: { shard: ShardNo; dagId: ScheduleSet['dagId'] }): ScheduleFold {
  let schedule = rows.schedules.get(dagId);
  if (schedule === undefined) {
    schedule = { shard, dagId, set: null, removed: null, removedUntil: null, decidedUntil: null };
    rows.schedules.set(dagId, schedule);
  }
  return schedule;
}

function silenceOf(rows: FoldedRows, { shard, workerId }: { shard: ShardNo; workerId: WorkerId }): SilenceFold {
  const key = `${shard}/${workerId}`;
  let silence = rows.silence.get(key);
  if (silence === undefined) {
    silence = { shard, workerId, heard: false, silent: false };
    rows.silence.set(key, silence);
  }
  return silence;
}

/** What a run begins with beside its row. Few runs have any: it takes a statement of its own, after the one that makes the row. */
function noteCreated(rows: FoldedRows, change: RunCreated): void {
  const { notes } = notesCreated(change);
  if (notes !== undefined) rows.runNotes.set(change.runId, { runId: change.runId, notes });
}

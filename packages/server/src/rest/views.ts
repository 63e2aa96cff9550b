/** Turns rows into the views of the API. States are derived by the same function of the engine that makes decisions. */
import {
  type AssetSource,
  type DagSpec,
  fingerprintText,
  Graph,
  type Instant,
  NOBODY,
  readNotes,
  readTasks,
  type TaskNo,
  type TaskSpec,
  type TasksRead,
} from '@signalbox/engine';
import type {
  AttemptView as AttemptAnswer,
  RunView as RunAnswer,
  RunSummary,
  TaskView as TaskAnswer,
} from '@signalbox/protocol';
import {
  type AttemptView,
  childKey,
  type RunDetails,
  type RunOutline,
  type RunPayloads,
  type RunView,
  readLargeOutput,
  type TaskView,
} from '@signalbox/store';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { roleOf } from './task-role.ts';

export function stateOf(run: Pick<RunView, 'phase' | 'admitted' | 'setAside'>): RunSummary['state'] {
  if (run.phase === 'ended') return 'ended';
  if (run.setAside) return 'set_aside';
  return run.phase === 'open' && !run.admitted ? 'queued' : run.phase;
}

const assetAnswer = ({ name, run, dag, task, at }: AssetSource) => ({ name, run, dag, task, at: toIso(at) });

export function runSummary(run: RunView): RunSummary {
  return {
    id: run.uid,
    dag: run.dagName,
    version: run.versionNo,
    state: stateOf(run),
    outcome: run.outcome,
    priority: run.priority,
    cause: run.cause,
    until: run.notes.until ?? null,
    window: toIsoOrNull(run.firesAt),
    windowStart: run.firesAt === null ? null : toIso(run.windowStart ?? run.firesAt),
    ...(run.notes.unmet === undefined ? {} : { unmet: run.notes.unmet }),
    ...(run.notes.assets === undefined ? {} : { assets: run.notes.assets.map(assetAnswer) }),
    ...(run.notes.key === undefined ? {} : { concurrencyKey: run.notes.key }),
    backfill: run.notes.backfill ?? null,
    createdAt: toIso(run.createdAt),
    endedAt: toIsoOrNull(run.endedAt),
    slowAt: toIsoOrNull(run.notes.slowAt ?? null),
    reason: run.notes.timedOutAt === undefined ? null : 'timeout',
    parent: run.parent === null ? null : { run: run.parent.uid, task: run.parent.task, attempt: run.parent.attemptNo },
    actor: run.createdBy,
    reopenedAt: toIsoOrNull(run.reopenedAt),
    reopenedBy: run.reopenedBy,
    retries: run.retries,
    paused: pauseAnswer(run, null),
  };
}

function pauseAnswer({ pauses }: RunView, taskNo: number | null): RunSummary['paused'] {
  if (pauses.length === 0) return null;
  const pause = pauses.find((one) => one.taskNo === taskNo);
  return pause === undefined ? null : { by: pause.by, since: toIso(pause.at), until: toIsoOrNull(pause.until) };
}

/** Of specs that are read again and again: as long as the spec itself is kept. */
const graphs = new WeakMap<DagSpec, Graph>();

function graphOfSpec(spec: DagSpec): Graph {
  const known = graphs.get(spec) ?? new Graph(spec);
  graphs.set(spec, known);
  return known;
}

/** The states of a run's tasks, by number. */
export function tasksOf(run: RunOutline): TasksRead {
  return readTasks(run.spec, run.outline, run, graphOfSpec(run.spec));
}

/** Params and outputs are JSON text. Of the tasks those with the numbers that are named; else all of the definition. */
export function runAnswer(
  run: RunDetails,
  { params, outputs }: RunPayloads,
  read: TasksRead = tasksOf(run),
  nos: readonly number[] = run.spec.tasks.map((_, no) => no),
): RunAnswer {
  const rows = new Map(run.tasks.map((task) => [task.taskNo as number, task]));
  const earlier = new Map<number, AttemptView[]>();
  for (const attempt of run.supersededAttempts) {
    const list = earlier.get(attempt.taskNo);
    if (list === undefined) earlier.set(attempt.taskNo, [attempt]);
    else list.push(attempt);
  }
  // One literal with all fields: objects made by spreading others are slow to make and large, and a run may have 10,000.
  const tasks = nos.map((no): TaskAnswer => {
    const specNo = read.names.specOf(no) ?? no;
    const task = run.spec.tasks[specNo]!;
    const { child: called } = task;
    const isMapped = read.names.isMapped(no);
    const row = rows.get(no);
    const state = read.stateOf(no);
    const error = read.faultOf(no);
    const isClaimed = row !== undefined && row.attemptNo !== 0;
    const end = row === undefined ? NO_END : endOf(row, task, error);
    const given = outputs.get(no as TaskNo);
    // Of a task that was cleared, what it had returned is void (I36).
    const { output, outputBytes } = outputAnswer(row === undefined || state === 'succeeded' ? given : undefined);
    return {
      name: read.names.nameOf(no) ?? task.name,
      group: task.group === undefined ? null : (run.spec.groups?.[task.group]?.name ?? null),
      map: read.names.placesOf(no),
      addedBy: task.addedBy === undefined ? null : (run.spec.tasks[task.addedBy]?.name ?? null),
      instances: isMapped && no === specNo ? (read.instances.get(specNo) ?? null) : null,
      role: roleOf(task),
      state,
      attempt: row === undefined ? 0 : row.attemptNo,
      worker: row === undefined ? null : workerOf(row),
      claimedAt: isClaimed ? toIsoOrNull(row.claimedAt) : null,
      startedAt: row === undefined ? null : toIsoOrNull(row.startedAt),
      endedAt: end.endedAt,
      retryAt: row === undefined || state !== 'retrying' ? null : toIsoOrNull(row.retryAt),
      slowAt: end.slowAt,
      outcome: end.outcome,
      code: end.code,
      fingerprint: row === undefined || row.fingerprint === null ? null : fingerprintText(row.fingerprint),
      heldBy: heldByOf(run, state, row),
      deadLetter: row === undefined ? null : (run.deadLetters.get(no) ?? null),
      error: row === undefined ? error : end.error,
      output,
      outputBytes,
      child: childAnswer(run, called?.dag, row),
      attempts: attemptsOf(run, called?.dag, row, earlier.get(no)),
      reason: read.reasonOf(no) ?? (row?.hasAttempt === false && row.state !== 'cleared' ? row.error : null),
      paused: pauseAnswer(run, no),
      why: null,
      cleared: row === undefined ? null : byHand(row.clearedAt, row.clearedBy),
      marked: row === undefined || row.hasAttempt || state === 'blocked' ? null : byHand(row.markedAt, row.markedBy),
    };
  });
  const closingFailed = run.spec.tasks.flatMap((task, no) =>
    roleOf(task) !== 'task' && read.stateOf(no) === 'failed' ? [task.name] : [],
  );
  return { ...runSummary(run), params: params === null ? null : JSON.parse(params), tasks, closingFailed, why: null };
}

/** One that ran beside the newest may have a higher number. */
function attemptsOf(
  run: RunDetails,
  dag: string | undefined,
  row: TaskRow | undefined,
  earlier: readonly AttemptView[] | undefined,
): AttemptAnswer[] {
  if (earlier === undefined) return row?.hasAttempt === true ? [attemptAnswer(row, childAnswer(run, dag, row))] : [];
  return [...earlier, ...(row?.hasAttempt ? [row] : [])]
    .sort((a, b) => a.attemptNo - b.attemptNo)
    .map((attempt) => attemptAnswer(attempt, childAnswer(run, dag, attempt)));
}

function byHand(at: Instant | null, by: string | null): TaskAnswer['cleared'] {
  return at === null ? null : { at: toIso(at), by: by ?? '' };
}

/** How its last attempt ended; or that it failed without one, which is an end of its own. */
function endOf(row: TaskRow, task: TaskSpec, fault: string | null): TaskEnd {
  const notes = readNotes(row.notes);
  const slowAt = toIsoOrNull(notes.slowAt ?? null);
  const { expired } = notes;
  if (row.state !== 'expired' || expired === undefined) {
    return {
      slowAt,
      endedAt: toIsoOrNull(row.endedAt),
      outcome: row.outcome,
      code: row.code,
      error: fault ?? row.error,
    };
  }
  const [what, ms] =
    expired.by === 'queue'
      ? ['waited in its queue', task.queueTimeoutMs]
      : ['took, over all attempts,', task.totalTimeoutMs];
  const error = `The task ${what} for longer than ${(ms ?? 0) / 1000} s.`;
  return { slowAt, endedAt: toIsoOrNull(expired.at), outcome: 'timeout', code: `timeout:${expired.by}`, error };
}

type TaskRow = RunDetails['tasks'][number];
type TaskEnd = Pick<TaskAnswer, 'slowAt' | 'endedAt' | 'outcome' | 'code' | 'error'>;

function outputAnswer(text: string | undefined): Pick<TaskAnswer, 'output' | 'outputBytes'> {
  const large = text === undefined ? null : readLargeOutput(text);
  if (large !== null) return { output: null, outputBytes: large.bytes };
  return { output: text === undefined ? null : (JSON.parse(text) as unknown), outputBytes: null };
}

const NO_END: TaskEnd = { slowAt: null, endedAt: null, outcome: null, code: null, error: null };

/** A breaker that is open, or lets go more each second. A task whose backoff is not over waits for that first. */
function heldByOf(
  { breakers, phase }: RunDetails,
  state: TaskAnswer['state'],
  row: TaskView | undefined,
): string | null {
  if (phase !== 'open' || (state !== 'ready' && state !== 'retrying')) return null;
  const fingerprint = state === 'retrying' ? (row?.fingerprint ?? 0) : 0;
  if (fingerprint !== 0 && breakers.includes(fingerprint)) return `breaker ${fingerprintText(fingerprint)}`;
  return breakers.includes(0) ? 'breaker of the dag' : null;
}

/** A task that runs another dag has none. */
const workerOf = ({ workerId }: AttemptView): string | null => (workerId === NOBODY ? null : workerId);

function childAnswer(
  { children }: RunDetails,
  dag: string | undefined,
  attempt: AttemptView | undefined,
): TaskAnswer['child'] {
  if (dag === undefined) return null;
  return { dag, run: attempt === undefined ? null : (children.get(childKey(attempt)) ?? null) };
}

function attemptAnswer(row: AttemptView, child: TaskAnswer['child']): AttemptAnswer {
  return {
    attempt: row.attemptNo,
    worker: workerOf(row),
    claimedAt: toIsoOrNull(row.claimedAt),
    startedAt: toIsoOrNull(row.startedAt),
    endedAt: toIsoOrNull(row.endedAt),
    outcome: row.outcome,
    code: row.code,
    error: row.error,
    speculative: row.speculative,
    cpuMs: row.used?.cpuMs ?? null,
    peakMemoryBytes: row.used?.peakBytes ?? null,
    child,
  };
}

/** What the end of an attempt means for breakers: it can open one, or be the result of a probe. */
import type { TaskSlot } from '../../model/ids.ts';
import type { Fingerprint } from '../../model/task/fingerprint.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import type { Breaker } from '../../tables/breaker/breaker.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { taskNoOf } from '../../tables/task/task-slots.ts';
import type { Recorder } from '../recorder.ts';
import { letGo, open, reopen } from './set-breaker.ts';

interface EndedAttempt {
  readonly outcome: AttemptOutcome;
  readonly fingerprint: Fingerprint | null;
  readonly error: string | null;
  readonly willRetry: boolean;
  /** Of the task's failure before this end; 0 for none. */
  readonly earlier: number;
  readonly claimedAt: number;
}

/** Whether the dag has a breaker that counts every end, not only failures. */
export function isWatched({ state }: Recorder, slot: TaskSlot): boolean {
  const { dag } = state.runs.versionOf(state.tasks.run[slot]!);
  const policy = dag.current.spec.breaker;
  return policy !== null && (policy !== undefined || dag.gate !== null);
}

/** After the end is recorded. */
export function judgeEnd(recorder: Recorder, slot: TaskSlot, end: EndedAttempt): void {
  const { state } = recorder;
  const { dag } = state.runs.versionOf(state.tasks.run[slot]!);
  const policy = dag.current.spec.breaker;
  if (policy === null) return;
  if (policy !== undefined || dag.gate !== null) judgeForDag(recorder, dag, slot, end);
  if (end.earlier !== 0) judgeRetry(recorder, dag, slot, end);
  if (end.fingerprint !== null && SPEAKS_OF_A_CAUSE.has(end.outcome))
    countCause(recorder, dag, slot, end, end.fingerprint);
}

/** A retry of a failure that has a breaker has ended: a probe, or a task that was let go. */
function judgeRetry(recorder: Recorder, dag: Dag, slot: TaskSlot, end: EndedAttempt): void {
  const { state } = recorder;
  const isSame = end.fingerprint === end.earlier;
  if (end.outcome === 'succeeded') state.breakers.windows.forgetCause(dag.id, end.earlier);
  const breaker = state.breakers.get(dag.id, end.earlier);
  if (breaker === undefined || breaker.state !== 'open' || !wasLetThrough(recorder, breaker, slot, end)) return;
  breaker.probe = null;
  if (SAYS_NOTHING.has(end.outcome)) return; // The next probe tells.
  // What is slow now is as sick as what refused before. Another error: what held these back is gone.
  if (isSame || NO_ANSWER.has(end.outcome)) reopen(recorder, breaker, end.error);
  else letGo(recorder, breaker);
}

function judgeForDag(recorder: Recorder, dag: Dag, slot: TaskSlot, end: EndedAttempt): void {
  const { state } = recorder;
  const { gate } = dag;
  if (SAYS_NOTHING.has(end.outcome)) {
    if (gate !== null && isProbe(recorder, gate, slot)) gate.probe = null;
    return;
  }
  const hasFailed = end.outcome !== 'succeeded';
  if (gate?.state === 'open') {
    if (!wasLetThrough(recorder, gate, slot, end)) return;
    gate.probe = null;
    if (hasFailed) reopen(recorder, gate, end.error);
    else letGo(recorder, gate);
    return;
  }
  const policy = dag.current.spec.breaker;
  if (policy === undefined || policy === null) return;
  const seen = state.breakers.windows.countEnd(dag.id, hasFailed, { mono: state.mono, windowMs: policy.windowMs });
  if (!hasFailed || seen.ended < policy.minimum || seen.failed < policy.share * seen.ended) return;
  if (gate !== null) reopen(recorder, gate, end.error);
  else open(recorder, dag, null, policy.pauseMs, end.error);
}

/** Once enough tasks have failed with one cause, and none of them got past it, their retries are held. */
function countCause(recorder: Recorder, dag: Dag, slot: TaskSlot, end: EndedAttempt, fingerprint: Fingerprint): void {
  const { state } = recorder;
  const { tasks, withinMs, pauseMs } = state.settings.causeBreaker;
  const breaker = state.breakers.get(dag.id, fingerprint);
  if (breaker?.state === 'open') return;
  // Of those just let go few are enough: it was open a moment ago.
  const most = breaker === undefined ? tasks : Math.min(AGAIN, tasks);
  const seen = state.breakers.windows.countTask(dag.id, fingerprint, taskKey(recorder, slot), {
    mono: state.mono,
    withinMs,
    most: tasks,
  });
  if (seen < most || !end.willRetry) return;
  if (breaker === undefined) open(recorder, dag, fingerprint, pauseMs, end.error);
  else reopen(recorder, breaker, end.error);
}

const AGAIN = 3;

/** The task failed for another's fault, as far as anyone knows: others fail with the same. */
export function isCauseShared(recorder: Recorder, slot: TaskSlot, fingerprint: Fingerprint): boolean {
  const { state } = recorder;
  const { dag } = state.runs.versionOf(state.tasks.run[slot]!);
  if (state.breakers.get(dag.id, fingerprint) !== undefined) return true;
  return state.breakers.windows.isShared(dag.id, fingerprint, taskKey(recorder, slot));
}

function taskKey({ state }: Recorder, slot: TaskSlot): string {
  return `${state.runIdOfTask(slot)}/${state.tasks.no[slot]!}`;
}

/** Nothing else begins while it is open: what was claimed after that is a probe, also one that another owner let through. */
function wasLetThrough(recorder: Recorder, breaker: Breaker, slot: TaskSlot, end: EndedAttempt): boolean {
  return isProbe(recorder, breaker, slot) || end.claimedAt > breaker.since;
}

function isProbe({ state }: Recorder, breaker: Breaker, slot: TaskSlot): boolean {
  return breaker.isProbe(state.runIdOfTask(slot), taskNoOf(state, slot));
}

/** Nobody's verdict about the dependency: the worker went, or somebody stopped it. */
const SAYS_NOTHING: ReadonlySet<AttemptOutcome> = new Set<AttemptOutcome>(['lost', 'cancelled']);
const NO_ANSWER: ReadonlySet<AttemptOutcome> = new Set<AttemptOutcome>(['timeout', 'stuck']);

/** A permanent failure is the task's own. */
const SPEAKS_OF_A_CAUSE: ReadonlySet<AttemptOutcome> = new Set<AttemptOutcome>([
  'transient',
  'timeout',
  'resource',
  'stuck',
]);

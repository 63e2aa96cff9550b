/**
 * What becomes of the tasks that close a run, in the plainest way: all that each waits for is looked at again and again until
 * nothing changes. Shares no line with the engine.
 */
import type { DagSpec } from '../dag/spec.ts';

export interface NaiveRun {
  readonly phase: 'open' | 'closing' | 'ended';
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  readonly isForced: boolean;
  /** Tasks that had an attempt: of the others it is to be found out what they are. */
  readonly begun: ReadonlySet<number>;
  /** Those of them with an attempt that was not given back. */
  readonly tried: ReadonlySet<number>;
  /** How often that has happened which a hook for retries, or for slow ones, runs for; null for those of the run. */
  readonly times?: (on: 'retry' | 'slow', of: number | null) => number;
}

const OPEN_STATES = ['blocked', 'ready', 'running', 'retrying', 'waiting'];
const isOver = (state: string | undefined) => state !== undefined && !OPEN_STATES.includes(state);

export function isClosing({ teardown, undoes, hook }: DagSpec['tasks'][number]): boolean {
  return teardown !== undefined || undoes !== undefined || (hook !== undefined && hook.on !== 'before');
}

/** All that needs a task, directly or not, among the ordinary ones. */
export function allBehind({ tasks }: DagSpec, no: number): number[] {
  const next = tasks.flatMap((task, down) => (!isClosing(task) && task.needs.includes(no) ? [down] : []));
  return [...new Set(next.flatMap((down) => [down, ...allBehind({ tasks } as DagSpec, down)]))];
}

/** The states of all tasks, given those of the ordinary ones (`stopped`: cancelled by itself) and of what has begun. */
export function naiveClosing(spec: DagSpec, known: readonly string[], run: NaiveRun): string[] {
  const { tasks } = spec;
  const states = known.map((state, no) => (isClosing(tasks[no]!) && !run.begun.has(no) ? 'blocked' : state));
  const undoOf = (no: number) => tasks.findIndex(({ undoes }) => undoes === no);
  const isBusy = tasks.some((task, no) => !isClosing(task) && !isOver(states[no]));
  const hasOutcome = run.phase !== 'open';

  function decide(no: number): string {
    if (run.isForced) return 'cancelled';
    const { teardown, undoes, hook, needs } = tasks[no]!;
    const over = (...of: number[]) => of.filter((up) => up >= 0).every((up) => isOver(states[up]));
    if (teardown !== undefined) {
      if (!over(...needs, ...needs.map(undoOf))) return 'blocked';
      return teardown.length === 0 || teardown.some((up) => states[up] === 'succeeded') ? 'ready' : 'skipped';
    }
    if (undoes !== undefined) {
      if (!hasOutcome || !over(undoes, ...allBehind(spec, undoes).map(undoOf))) return 'blocked';
      if (run.outcome === 'succeeded') return 'skipped';
      if (isBusy) return 'blocked';
      return states[undoes] === 'succeeded' ? 'ready' : 'skipped';
    }
    const { on, of } = hook!;
    if (on === 'retry' || on === 'slow') {
      if ((run.times?.(on, of) ?? 0) > 0) return 'ready';
      return (of === null ? hasOutcome : over(of)) ? 'skipped' : 'blocked';
    }
    if (of !== null) {
      if (!over(of)) return 'blocked';
      const was = states[of]!;
      // What a person has cancelled by itself counts as failed, whether it had begun or not.
      const hasFailed = was === 'failed' || was === 'stopped';
      const holds = { success: was === 'succeeded', failure: hasFailed } as Record<string, boolean>;
      const wasStopped = was === 'cancelled' && run.tried.has(of);
      return (holds[on] ?? (was === 'succeeded' || hasFailed || wasStopped)) ? 'ready' : 'skipped';
    }
    if (!hasOutcome) return 'blocked';
    if (on !== 'after') return run.outcome === (on === 'success' ? 'succeeded' : 'failed') ? 'ready' : 'skipped';
    const others = tasks.flatMap((task, other) => (other !== no && isClosing(task) ? [other] : []));
    return isBusy || !over(...others) ? 'blocked' : 'ready';
  }

  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    tasks.forEach((task, no) => {
      if (!isClosing(task) || run.begun.has(no) || states[no] !== 'blocked') return;
      states[no] = decide(no);
      if (states[no] !== 'blocked') isChanged = true;
    });
  }
  return states.map((state) => (state === 'stopped' ? 'cancelled' : state));
}

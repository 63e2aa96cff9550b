/**
 * Counts towards opening a breaker. They are in memory only: after a handover counting starts again, so a breaker can open
 * late but never wrongly. The number of entries is bounded, whatever errors there are (I73).
 */
import type { DagId } from '../../model/ids.ts';

/** Causes of failure that are watched at once. Beyond it the one that came first is forgotten. */
const MOST_WATCHED = 10_000;

interface Cause {
  readonly since: number;
  /** Tasks that failed with it, up to as many as it takes. */
  readonly tasks: Set<string>;
}

/** Ended attempts of a dag, and those that failed, in slices of the window. */
interface Slice {
  readonly from: number;
  ended: number;
  failed: number;
}

const SLICES = 10;

export class FailureWindows {
  private readonly causes = new Map<string, Cause>();
  private readonly dags = new Map<DagId, Slice[]>();

  /** Counts a task that failed with this cause; answers how many different ones did, within the time, with no success between. */
  countTask(
    dagId: DagId,
    fingerprint: number,
    task: string,
    now: { mono: number; withinMs: number; most: number },
  ): number {
    const key = `${dagId}/${fingerprint}`;
    let cause = this.causes.get(key);
    if (cause === undefined || now.mono - cause.since >= now.withinMs) {
      this.causes.delete(key); // The newest come last.
      cause = { since: now.mono, tasks: new Set() };
      this.causes.set(key, cause);
      if (this.causes.size > MOST_WATCHED) this.causes.delete(this.causes.keys().next().value!);
    }
    if (cause.tasks.size < now.most) cause.tasks.add(task);
    return cause.tasks.size;
  }

  /** Another task failed with it as well, lately. */
  isShared(dagId: DagId, fingerprint: number, task: string): boolean {
    const tasks = this.causes.get(`${dagId}/${fingerprint}`)?.tasks;
    return tasks !== undefined && (tasks.size > 1 || (tasks.size === 1 && !tasks.has(task)));
  }

  forgetCause(dagId: DagId, fingerprint: number): void {
    this.causes.delete(`${dagId}/${fingerprint}`);
  }

  /** Counts an ended attempt of a dag; answers what there was in its window, this one included. */
  countEnd(dagId: DagId, failed: boolean, now: { mono: number; windowMs: number }): { ended: number; failed: number } {
    const sliceMs = Math.max(1, now.windowMs / SLICES);
    const slices = (this.dags.get(dagId) ?? []).filter(({ from }) => now.mono - from < now.windowMs);
    let last = slices.at(-1);
    if (last === undefined || now.mono - last.from >= sliceMs) {
      last = { from: now.mono, ended: 0, failed: 0 };
      slices.push(last);
    }
    last.ended += 1;
    if (failed) last.failed += 1;
    this.dags.set(dagId, slices);
    return slices.reduce((sum, slice) => ({ ended: sum.ended + slice.ended, failed: sum.failed + slice.failed }), {
      ended: 0,
      failed: 0,
    });
  }

  forgetDag(dagId: DagId): void {
    this.dags.delete(dagId);
  }
}

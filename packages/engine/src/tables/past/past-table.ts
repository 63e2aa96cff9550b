/**
 * Runs with tasks that depend on the past: which of them still wait, and for which window. A task that waits is ready and in no
 * lane, like one that is paused.
 */
import type { Instant, RunRow } from '../../model/ids.ts';

interface PastHold {
  /** The window that it waits for, and its name in memory; null until it is known. */
  readonly waitsFor: { readonly name: string; readonly at: Instant } | null;
  /** Numbers, in the spec, of the tasks that wait. Never empty. */
  readonly left: ReadonlySet<number>;
  /** The batch that the run was created in: before that is settled, the database may lack the run before it. */
  readonly createdIn: number;
}

export class PastTable {
  private readonly holds = new Map<RunRow, PastHold>();
  /** Runs by the window that they wait for. */
  private readonly waiters = new Map<string, Set<RunRow>>();
  /** Runs whose window before is not known yet, or is to be looked at again. */
  readonly unlinked = new Set<RunRow>();
  /** Windows of which tasks ended while runs that may wait for them were still being loaded. */
  readonly endedEarly = new Set<string>();
  /** Runs of which to look whether the run that they wait for is still stored. */
  readonly doubtful = new Set<RunRow>();

  /** Some run waits. */
  get isUsed(): boolean {
    return this.holds.size > 0;
  }

  get(run: RunRow): PastHold | undefined {
    return this.holds.get(run);
  }

  /** Until it is known what it waits for. */
  hold(run: RunRow, left: readonly number[], createdIn: number): void {
    this.holds.set(run, { waitsFor: null, left: new Set(left), createdIn });
    this.unlinked.add(run);
  }

  /** It is known what the run waits for, or fewer of its tasks wait. */
  link(run: RunRow, waitsFor: NonNullable<PastHold['waitsFor']>, left: readonly number[]): void {
    this.remove(run);
    if (left.length === 0) return;
    this.holds.set(run, { waitsFor, left: new Set(left), createdIn: 0 });
    const others = this.waiters.get(waitsFor.name) ?? new Set();
    others.add(run);
    this.waiters.set(waitsFor.name, others);
  }

  /** A run that was loaded late: what it waits for may have come about meanwhile, and be gone from memory. */
  lookAgain(run: RunRow): void {
    if (this.holds.has(run)) this.unlinked.add(run);
  }

  /** The runs that wait for this window. */
  waitersOf(name: string): ReadonlySet<RunRow> | undefined {
    return this.waiters.get(name);
  }

  remove(run: RunRow): void {
    const { waitsFor = null } = this.holds.get(run) ?? {};
    this.holds.delete(run);
    this.unlinked.delete(run);
    this.doubtful.delete(run);
    if (waitsFor === null) return;
    const others = this.waiters.get(waitsFor.name);
    others?.delete(run);
    if (others?.size === 0) this.waiters.delete(waitsFor.name);
  }
}

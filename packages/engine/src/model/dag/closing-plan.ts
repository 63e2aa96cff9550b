/**
 * The tasks that close a run: teardowns, undos and hooks. They wait until other tasks have *ended*, successfully or not. So
 * their edges are separate from those of ordinary tasks: nothing here can hold up or decide an ordinary task (I33).
 */
import type { TaskSpec } from './spec.ts';

type ClosingKind = 'teardown' | 'undo' | 'hook';

type Marks = Pick<TaskSpec, 'needs'> & Partial<Pick<TaskSpec, 'teardown' | 'undoes' | 'hook'>>;

/** What kind of closing task it is; null for an ordinary one. A `before` is ordinary: what it stands before waits for it. */
export function closingKind({ teardown, undoes, hook }: Omit<Marks, 'needs'>): ClosingKind | null {
  if (teardown !== undefined) return 'teardown';
  if (undoes !== undefined) return 'undo';
  return hook !== undefined && hook.on !== 'before' ? 'hook' : null;
}

export interface ClosingTask extends Pick<Marks, 'teardown' | 'undoes' | 'hook'> {
  readonly no: number;
  readonly kind: ClosingKind;
  /** What must have ended before it is decided. */
  readonly awaits: readonly number[];
}

export class ClosingPlan {
  readonly tasks: readonly ClosingTask[];
  /** Those that look at the run's phase or outcome, beside what they await. */
  readonly ofRun: readonly ClosingTask[];
  /** Hooks that run each time that something happens: a retry, or that it is slow. */
  readonly repeating: readonly ClosingTask[];
  private readonly repeatingBy: ReadonlyMap<number | null, readonly number[]>;
  private readonly byNo: ReadonlyMap<number, ClosingTask>;
  private readonly awaited: ReadonlyMap<number, readonly number[]>;
  /** Each undo comes after those that it awaits. */
  private readonly undoRank: ReadonlyMap<number, number>;

  /** Null for a dag without any. `below` are the ordinary tasks that need one. */
  static of(tasks: readonly Marks[], below: (no: number) => Iterable<number>): ClosingPlan | null {
    return tasks.some((task) => closingKind(task) !== null) ? new ClosingPlan(tasks, below) : null;
  }

  private constructor(tasks: readonly Marks[], below: (no: number) => Iterable<number>) {
    const undoOf = new Map(tasks.flatMap(({ undoes }, no) => (undoes === undefined ? [] : [[undoes, no] as const])));
    this.tasks = tasks.flatMap((task, no) => {
      const kind = closingKind(task);
      if (kind === null) return [];
      const { teardown, undoes, hook } = task;
      const marks = { ...(teardown && { teardown }), ...(undoes !== undefined && { undoes }), ...(hook && { hook }) };
      return [{ no, kind, ...marks, awaits: [...new Set(awaitsOf(tasks, no, undoOf, below))] }];
    });
    this.ofRun = this.tasks.filter(({ kind, hook }) => kind === 'undo' || hook?.of === null);
    this.repeating = this.tasks.filter(isRepeating);
    const by = new Map<number | null, number[]>();
    for (const { no, hook } of this.repeating) by.set(hook!.of, [...(by.get(hook!.of) ?? []), no]);
    this.repeatingBy = by;
    this.byNo = new Map(this.tasks.map((task) => [task.no, task]));
    const awaited = new Map<number, number[]>();
    for (const { no, awaits } of this.tasks) {
      for (const up of awaits) {
        const known = awaited.get(up);
        if (known === undefined) awaited.set(up, [no]);
        else known.push(no);
      }
    }
    this.awaited = awaited;
    this.undoRank = this.rankUndos();
  }

  has(no: number): boolean {
    return this.byNo.has(no);
  }

  get(no: number): ClosingTask {
    return this.byNo.get(no)!;
  }

  find(no: number): ClosingTask | undefined {
    return this.byNo.get(no);
  }

  isUndo(no: number): boolean {
    return this.undoRank.has(no);
  }

  /** For sorting: an undo comes after those that it awaits. Other closing tasks have no order. */
  rankOf(no: number): number {
    return this.undoRank.get(no) ?? 0;
  }

  private rankUndos(): ReadonlyMap<number, number> {
    const undos = this.tasks.filter(({ kind }) => kind === 'undo');
    const nos = new Set(undos.map(({ no }) => no));
    const left = new Map(undos.map(({ no, awaits }) => [no, awaits.filter((up) => nos.has(up)).length]));
    const rank = new Map<number, number>();
    const free = undos.filter(({ no }) => left.get(no) === 0).map(({ no }) => no);
    for (let no = free.pop(); no !== undefined; no = free.pop()) {
      rank.set(no, rank.size);
      for (const below of this.awaiting(no)) {
        if (!nos.has(below)) continue;
        left.set(below, left.get(below)! - 1);
        if (left.get(below) === 0) free.push(below);
      }
    }
    return rank;
  }

  /** The closing tasks that wait for the end of this one. */
  awaiting(no: number): readonly number[] {
    return this.awaited.get(no) ?? NONE;
  }

  /** The repeating hooks of a task; null: those of the run. */
  repeatingOf(no: number | null): readonly number[] {
    return this.repeatingBy.get(no) ?? NONE;
  }
}

const NONE: readonly number[] = [];

/** It runs for each time that this happens, while its run is open too, and has its own way of running again: see `refire.ts`. */
export function isRepeating({ hook }: Pick<ClosingTask, 'hook'>): boolean {
  return hook?.on === 'retry' || hook?.on === 'slow';
}

function awaitsOf(
  tasks: readonly Marks[],
  no: number,
  undoOf: ReadonlyMap<number, number>,
  below: (no: number) => Iterable<number>,
): number[] {
  const { needs, undoes, hook } = tasks[no]!;
  if (undoes !== undefined) return [undoes, ...nextUndos(undoes, undoOf, below)];
  if (hook !== undefined) {
    if (hook.of !== null) return [hook.of];
    // The last of all: it can tell how the closing went.
    return hook.on === 'after'
      ? tasks.flatMap((task, other) => (other !== no && closingKind(task) ? [other] : []))
      : [];
  }
  // What a setup has made is there until what was done with it has been undone.
  return needs.flatMap((up) => (undoOf.has(up) ? [up, undoOf.get(up)!] : [up]));
}

/** The undos nearest behind a task. Those further on are awaited by these: see `isEarly` in `closers.ts`. */
function nextUndos(
  from: number,
  undoOf: ReadonlyMap<number, number>,
  below: (no: number) => Iterable<number>,
): number[] {
  const [seen, stack, found] = [new Set<number>(), [from], [] as number[]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (const next of below(no)) {
      if (seen.has(next)) continue;
      seen.add(next);
      const undo = undoOf.get(next);
      if (undo === undefined) stack.push(next);
      else found.push(undo);
    }
  }
  return found;
}

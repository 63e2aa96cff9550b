/** E. Clears and marks: of a run that somebody asked it of, and exactly what was chosen and what depends on it (I37). */
import type { Change, ClearTasks, DagSpec, MarkTasks, RunId, TaskCleared } from '@signalbox/engine';
import type { Happening } from '../world/happening.ts';
import type { RunBook } from './books.ts';
import type { Scene } from './checker.ts';
import { stateOf } from './task-states.ts';

type Touch = ClearTasks | MarkTasks;

export class Touches {
  readonly #scene: Scene;
  readonly #asked = new Map<RunId, Touch[]>();
  /** Tasks of the row of changes at hand, and what each command would have chosen when it began. */
  #row: { readonly cleared: Set<number>; readonly wanted: readonly (ReadonlySet<number> | null)[] } | null = null;
  /** Attempts that were stopped in an open run: cleared or marked by the next change of the run. */
  #stopped = new Set<string>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  of(runId: RunId): readonly Touch[] {
    return this.#asked.get(runId) ?? [];
  }

  see(happening: Happening): void {
    if (happening.kind !== 'asked') return;
    const { command } = happening.ask;
    if ((command.kind !== 'ClearTasks' && command.kind !== 'MarkTasks') || command.dryRun) return;
    this.#asked.set(command.runId, [...this.of(command.runId), command]);
  }

  change(change: Change): void {
    const { ledger } = this.#scene;
    if (
      change.kind === 'AttemptEnded' &&
      change.taskState === 'cancelled' &&
      change.code !== 'gang' &&
      ledger.run(change.runId).phase === 'open'
    ) {
      this.#stopped.add(`${change.runId}/${change.taskNo}`);
      if (!this.of(change.runId).some(({ force, kind }) => force || kind === 'MarkTasks')) {
        this.#scene.fail('I32', `an attempt of ${change.runId}/${change.taskNo} was stopped, and nobody asked for it`);
      }
    }
    if (change.kind === 'TaskMarked') {
      const isAsked = this.of(change.runId).some(
        (one) =>
          one.kind === 'MarkTasks' &&
          one.as === change.state &&
          one.tasks.some((no) => no === change.taskNo || change.taskNo >= ledger.run(change.runId).spec.tasks.length),
      );
      const isOfGang = change.actor === 'gang' && change.state === 'cancelled';
      if (!isAsked && !isOfGang)
        this.#scene.fail('I32', `task ${change.runId}/${change.taskNo} was marked ${change.state}, unasked`);
      if (ledger.run(change.runId).phase !== 'open')
        this.#scene.fail('I32', `a task of run ${change.runId} was marked, it is not open`);
    }
    if (change.kind === 'TaskMarked' || change.kind === 'TaskCleared')
      this.#stopped.delete(`${change.runId}/${change.taskNo}`);
    if (change.kind === 'AttemptClaimed' && this.#stopped.has(`${change.runId}/${change.taskNo}`)) {
      this.#scene.fail('I32', `task ${change.runId}/${change.taskNo} was stopped, and claimed without being cleared`);
    }
  }

  /** One of a row; with the last of them the whole is looked at. */
  cleared(change: TaskCleared, isReopened: boolean, isRetryAsked: (taskNo: number) => boolean): void {
    const { ledger } = this.#scene;
    const run = ledger.run(change.runId);
    this.#row ??= {
      cleared: new Set(),
      wanted: [
        ...this.of(change.runId).map((one) => wantedOf(run, one, isReopened, (no) => stateOf(run, no))),
        ...run.spec.tasks.flatMap((_, no) => (isRetryAsked(no) ? [retriedWith(run, no, isReopened)] : [])),
      ],
    };
    this.#row.cleared.add(change.taskNo);
    if (change.more) return;
    const { cleared, wanted } = this.#row;
    this.#row = null;
    // What the reopening of a mark has brought along goes by itself.
    if (this.of(change.runId).some(({ kind }) => kind === 'MarkTasks')) return;
    if (!isPlainSpec(run.spec) || wanted.some((set) => set === null || isSame(set, cleared))) return;
    const sets = wanted.map((set) => `{${[...(set ?? [])].join(', ')}}`).join(' or ');
    this.#scene.fail(
      'I37',
      `of run ${change.runId} the tasks {${[...cleared].join(', ')}} were cleared, asked for were ${sets}`,
    );
  }
}

/** Maps, and what closes a run, have more to them than needs. */
function isPlainSpec({ groups, tasks }: DagSpec): boolean {
  return (
    groups === undefined && tasks.every(({ teardown, undoes, hook }) => !teardown && undoes === undefined && !hook)
  );
}

/** What is to be cleared, by a plain walk over needs; null where nobody can tell. */
function wantedOf(
  run: RunBook,
  touch: Touch,
  isReopened: boolean,
  stateOf: (no: number) => string,
): ReadonlySet<number> | null {
  if (touch.kind === 'MarkTasks') return null;
  const { tasks } = run.spec;
  const { select } = touch;
  const rowOf = rowsOf(run);
  const chosen = new Set(
    tasks.flatMap((_, no) => {
      const isNamed = select.tasks === null || select.tasks.includes(no as never);
      // One without a state of its own is chosen by what follows from the others: its condition had no answer, and it has failed.
      const row = rowOf(no);
      const state = row === undefined || row === 'cleared' ? stateOf(no) : row;
      return isNamed && (select.states === null || (select.states as readonly string[]).includes(state)) ? [no] : [];
    }),
  );
  const first = [...chosen];
  const below = (no: number) => tasks.flatMap(({ needs }, other) => (needs.includes(no) ? [other] : []));
  if (select.downstream) for (const no of walk(first, below)) chosen.add(no);
  if (select.upstream) for (const no of walk(first, (one) => tasks[one]!.needs)) chosen.add(no);
  const CLEARABLE = ['succeeded', 'failed', 'retrying', 'skipped', 'stopped', 'cancelled'];
  const wanted = new Set([...chosen].filter((no) => CLEARABLE.includes(rowOf(no) ?? '')));
  if (isReopened) for (const no of stoppedIn(run)) wanted.add(no);
  return wanted;
}

/** A retry of one task, asked for as that or with its dead letter: under `fail_fast` all that failed is in the way of the run. */
function retriedWith(run: RunBook, taskNo: number, isReopened: boolean): ReadonlySet<number> {
  const rowOf = rowsOf(run);
  const wanted = new Set(rowOf(taskNo) === undefined ? [] : [taskNo]);
  if (!isReopened) return wanted;
  for (const no of stoppedIn(run)) wanted.add(no);
  if (run.spec.onFailure === 'fail_fast') run.spec.tasks.forEach((_, no) => rowOf(no) === 'failed' && wanted.add(no));
  return wanted;
}

/** What a failure had stopped: it goes on with a run that is opened again. */
function stoppedIn(run: RunBook): readonly number[] {
  const rowOf = rowsOf(run);
  return run.spec.tasks.flatMap((_, no) => (rowOf(no) === 'cancelled' || rowOf(no) === 'retrying' ? [no] : []));
}

/** One that failed while no attempt ran has failed all the same. */
const rowsOf = (run: RunBook) => (no: number) => {
  const state = run.tasks.get(no as never)?.state;
  return state === 'expired' ? 'failed' : state;
};

function walk(from: readonly number[], next: (no: number) => readonly number[]): Set<number> {
  const [seen, stack] = [new Set<number>(), [...from]];
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    for (const other of next(no)) if (!seen.has(other)) stack.push(other);
    for (const other of next(no)) seen.add(other);
  }
  return seen;
}

const isSame = (a: ReadonlySet<number>, b: ReadonlySet<number>) => a.size === b.size && [...a].every((no) => b.has(no));

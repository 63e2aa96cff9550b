/** What the tasks of a run are, derived from its books by the plainest means each time that something has changed. */
import type { TaskNo, TaskState } from '@signalbox/engine';
import { isClosing, type NaiveEnd, naiveClosingNodes, naiveName, naiveNodes } from '@signalbox/engine/testing';
import type { Derived, RunBook } from './books.ts';
import { expansionOf, nameOf, numbersOf, taskSpecOf } from './map-book.ts';

/** Whether attempts of the task may begin. */
export function mayRun(run: RunBook, taskNo: number): boolean {
  if (run.phase === 'open') return true;
  return run.phase === 'closing' && !run.isForced && isClosing(taskSpecOf(run, taskNo));
}

/** Of an instance of a map that was removed. */
export const GONE = 'gone';

/** What a task is, rows or not. */
export function stateOf(run: RunBook, taskNo: number): TaskState | typeof GONE {
  return (statesOf(run).get(taskNo) ?? GONE) as TaskState | typeof GONE;
}

/** Of all tasks that are there, by their numbers. */
export function statesOf(run: RunBook): ReadonlyMap<number, string> {
  const derived = derivedOf(run);
  derived.byNo ??= findStates(run, derived.named);
  return derived.byNo;
}

/** Whether instances that a map will have are not there yet: what comes after them may look further on than it is. */
export function isUnfolding(run: RunBook): boolean {
  if (run.spec.groups === undefined) return false;
  const numbers = numbersOf(run);
  return [...derivedOf(run).named.keys()].some((name) => !numbers.has(name));
}

/** How many instances a task of a map has, in an instance of what is around it. */
export function instancesOf(run: RunBook, member: number, path: readonly number[]): number {
  const { named } = derivedOf(run);
  let count = 0;
  while (named.has(naiveName(member, [...path, count]))) count += 1;
  return count;
}

function derivedOf(run: RunBook): Derived {
  run.derived ??= { named: namedStates(run), byNo: null };
  return run.derived;
}

/** Everything is looked at anew, by the plainest means. */
function namedStates(run: RunBook): ReadonlyMap<string, string> {
  const ended = new Map<string, NaiveEnd>();
  for (const { taskNo, state, output, failedAs } of run.tasks.values()) {
    const name = nameOf(run, taskNo);
    if (state === 'cleared' || name === null) continue;
    const isOver = state === 'succeeded' || state === 'failed' || state === 'skipped';
    const end = isOver ? state : state === 'expired' ? 'failed' : state === 'stopped' ? 'cancelled' : 'open';
    ended.set(name, new End(end, output, failedAs));
  }
  const isAsked = run.created.params !== null && run.spec.paramFacts !== undefined;
  const params: unknown = isAsked ? JSON.parse(run.created.params) : null;
  return naiveNodes(run.spec, ended, params);
}

/** Few outputs are asked for: each is read when it is. */
class End implements NaiveEnd {
  readonly state: NaiveEnd['state'];
  readonly failedAs: string | null;
  readonly #output: string | null;

  constructor(state: NaiveEnd['state'], output: string | null, failedAs: string | null) {
    this.state = state;
    this.failedAs = failedAs;
    this.#output = output;
  }

  get output(): unknown {
    return this.#output === null ? null : JSON.parse(this.#output);
  }
}

/** By the books a map expands as soon as it can, and at once. Here it is as far as the journal says. */
function asFarAs(run: RunBook, no: number, name: string, named: ReadonlyMap<string, string>): string {
  const state = named.get(name) ?? GONE;
  if (!named.has(`${name}[0]`)) return state;
  const map = expansionOf(run, no);
  if (map === null) return 'blocked';
  return map.unfolded < map.total ? 'expanded' : state;
}

function findStates(run: RunBook, named: ReadonlyMap<string, string>): ReadonlyMap<number, string> {
  const numbers = numbersOf(run);
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

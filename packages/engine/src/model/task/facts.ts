/**
 * The values that decisions need from params and outputs. They are extracted when those pass through, because neither is
 * kept in memory. Facts are small, and stored and loaded with their run and task, so a load decides the same as live (I19).
 */
import type { Path, TaskSpec } from '../dag/spec.ts';
import { type Fact, isTruthy, type Json, NOTHING } from './fact.ts';

export const MAX_FACT_BYTES = 1_024;
const MAX_FACTS_BYTES = 16 * 1_024;

/** Of one task: an entry for each of its paths, and what its output means for those behind it. */
export interface TaskFacts {
  readonly values?: readonly Fact[];
  /** Numbers of the tasks that a branch chose. */
  readonly chosen?: readonly number[];
  /** A short circuit that does not let pass. */
  readonly stops?: true;
  /** Why it failed for good, where a condition asks. */
  readonly error?: TaskError;
}

/** The class of the failure (`timeout`, `permanent` …), and its code, if it has one. */
export interface TaskError {
  readonly class: string;
  readonly code: string | null;
}

/** A task that waited too long for a worker, or whose whole time was over. */
export function errorOfExpiry(by: 'queue' | 'total'): TaskError {
  return { class: 'timeout', code: `timeout:${by}` };
}

export class RunFacts {
  params: readonly Fact[] = [];
  private readonly tasks = new Map<number, TaskFacts & { readonly choice: ReadonlySet<number> | null }>();

  setTask(no: number, text: string): void {
    const facts = JSON.parse(text) as TaskFacts;
    this.tasks.set(no, { ...facts, choice: facts.chosen === undefined ? null : new Set(facts.chosen) });
  }

  setParams(text: string): void {
    this.params = JSON.parse(text) as readonly Fact[];
  }

  ofTask(no: number, fact: number): Fact {
    return this.tasks.get(no)?.values?.[fact] ?? NOTHING;
  }

  errorOf(no: number): TaskError | null {
    return this.tasks.get(no)?.error ?? null;
  }

  setError(no: number, error: TaskError): void {
    this.tasks.set(no, { error, choice: null });
  }

  /** It is to run again, or somebody says what it is: why it failed before is of no interest. */
  forgetError(no: number): void {
    if (this.tasks.get(no)?.error !== undefined) this.tasks.delete(no);
  }

  ofParams(fact: number): Fact {
    return this.params[fact] ?? NOTHING;
  }

  /** The tasks that a branch chose; null for any other task. */
  choiceOf(no: number): ReadonlySet<number> | null {
    return this.tasks.get(no)?.choice ?? null;
  }

  stops(no: number): boolean {
    return this.tasks.get(no)?.stops === true;
  }
}

export type ReadFacts =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly error: string };

/** What a task's output says; or why a branch can't go by it. `below` are the numbers of its direct downstream tasks. */
export function readTaskFacts(
  task: TaskSpec,
  below: { readonly numbers: Iterable<number>; readonly nameOf: (no: number) => string },
  output: string | null,
): ReadFacts {
  const value = parseOrNull(output);
  const values = task.facts === undefined ? {} : { values: readPaths(value, task.facts) };
  const stops = task.shortCircuit !== undefined && !isTruthy({ v: value }) ? { stops: true as const } : {};
  if (task.branch !== true) return { ok: true, text: JSON.stringify({ ...values, ...stops }) };
  const chosen = readChoice(value, below);
  if (typeof chosen === 'string') return { ok: false, error: chosen };
  return { ok: true, text: JSON.stringify({ ...values, ...stops, chosen }) };
}

export function readParamFacts(paths: readonly Path[] | undefined, params: string | null): string | null {
  return paths === undefined ? null : JSON.stringify(readPaths(parseOrNull(params), paths));
}

export function readPaths(root: Json, paths: readonly Path[]): Fact[] {
  let left = MAX_FACTS_BYTES;
  return paths.map((path) => {
    const fact = measure(follow(root, path), Math.min(left, MAX_FACT_BYTES));
    left -= JSON.stringify(fact).length;
    return fact;
  });
}

export function follow(root: Json, path: Path): Json {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== (typeof step === 'number')) return null;
    if (!Object.hasOwn(value, step)) return null;
    value = (value as Readonly<Record<string | number, Json>>)[step] ?? null;
  }
  return value;
}

function measure(value: Json, mostBytes: number): Fact {
  if (typeof value === 'string') return value.length <= mostBytes ? { v: value } : { of: 'text', length: value.length };
  if (typeof value !== 'object' || value === null) return { v: value };
  const length = Array.isArray(value) ? value.length : Object.keys(value).length;
  // Longer than its parts could be written in: not worth writing it to see.
  if (length <= mostBytes && JSON.stringify(value).length <= mostBytes) return { v: value };
  return { of: Array.isArray(value) ? 'list' : 'object', length };
}

/** Numbers, or what is wrong with it. */
function readChoice(
  value: Json,
  { numbers, nameOf }: { readonly numbers: Iterable<number>; readonly nameOf: (no: number) => string },
): number[] | string {
  const names = value === null ? [] : Array.isArray(value) ? value : [value];
  const byName = new Map([...numbers].map((no) => [nameOf(no), no]));
  const chosen = new Set<number>();
  for (const name of names) {
    const no = typeof name === 'string' ? byName.get(name) : undefined;
    if (no === undefined) {
      const known = [...byName.keys()];
      const listed = known.slice(0, 10).join(', ') + (known.length > 10 ? ` and ${known.length - 10} more` : '');
      return `The branch chose ${JSON.stringify(name).slice(0, 100)}. It may choose among the tasks that need it: ${listed}.`;
    }
    chosen.add(no);
  }
  return [...chosen].sort((a, b) => a - b);
}

export function parseOrNull(text: string | null): Json {
  if (text === null) return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

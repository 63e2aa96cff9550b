/**
 * What becomes of the tasks of a dag, in the plainest way: everything is looked at again and again until nothing changes. Slow,
 * and shares no line with the engine, so that the two can be held against each other.
 */
import type { Expression } from '../dag/expression.ts';
import type { DagSpec } from '../dag/spec.ts';

/** What a task has come to that has run; `open` for one that runs, or waits to run again. */
export interface NaiveEnd {
  readonly state: 'succeeded' | 'failed' | 'open';
  readonly output: unknown;
}

/** The states of all tasks, given what those that ran have come to, before its policy closes the run. */
export function naiveStates(spec: DagSpec, ended: ReadonlyMap<number, NaiveEnd>, params: unknown = null): string[] {
  const { tasks } = spec;
  const states = tasks.map((_, no) => ended.get(no)?.state ?? 'blocked') as string[];
  const isOver = (state: string) => state !== 'blocked' && state !== 'ready' && state !== 'open';
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value;
  const stops = (no: number) =>
    tasks[no]!.shortCircuit !== undefined && states[no] === 'succeeded' && isEmpty(ended.get(no)?.output);
  const above = (no: number): Set<number> => new Set(tasks[no]!.needs.flatMap((up) => [up, ...above(up)]));

  function edge(up: number, no: number): string {
    const state = states[up]!;
    if (state !== 'succeeded') {
      const isBad = state === 'failed' || state === 'upstream_failed';
      if (!isBad || spec.onFailure !== 'skip_failed') return state;
      const { rule = 'all_success' } = tasks[no]!;
      if (rule === 'all_success') return 'succeeded';
      return rule.startsWith('none_failed') ? 'skipped' : state;
    }
    if (stops(up)) return 'skipped';
    if (!tasks[up]!.branch) return 'succeeded';
    const chosen = ([] as unknown[]).concat(ended.get(up)?.output ?? []);
    return chosen.includes(tasks[no]!.name) ? 'succeeded' : 'skipped';
  }

  function decide(no: number): string {
    const { needs, rule = 'all_success', when } = tasks[no]!;
    const closers = [...above(no)].filter((up) => tasks[up]!.shortCircuit === 'all');
    if (closers.some(stops)) return 'skipped';
    if (closers.some((up) => !isOver(states[up]!))) return 'blocked';
    const edges = needs.map((up) => edge(up, no));
    const has = (...wanted: string[]) => edges.some((state) => wanted.includes(state));
    const isDone = edges.every(isOver);
    const bad = has('failed', 'upstream_failed');
    const otherwise = bad ? 'upstream_failed' : 'skipped';
    const verdict = ((): string => {
      if (needs.length === 0) return 'ready';
      const done = (holds: boolean, or: string) => (isDone ? (holds ? 'ready' : or) : 'blocked');
      switch (rule) {
        case 'all_success':
          return bad ? 'upstream_failed' : done(!has('skipped'), 'skipped');
        case 'all_failed':
          return has('succeeded', 'skipped') ? 'skipped' : done(true, '');
        case 'all_done':
          return done(true, '');
        case 'all_done_min_one_success':
          return done(has('succeeded'), otherwise);
        case 'all_done_setup_success': {
          const setups = edges.filter((_, i) => tasks[needs[i]!]!.setup);
          if (setups.length === 0 || !setups.every(isOver) || setups.includes('succeeded')) return done(true, '');
          return setups.every((state) => state === 'skipped') ? 'skipped' : 'upstream_failed';
        }
        case 'one_success':
          return has('succeeded') ? 'ready' : done(false, otherwise);
        case 'one_failed':
          return bad ? 'ready' : done(false, 'skipped');
        case 'one_done':
          return has('succeeded', 'failed') ? 'ready' : done(false, 'skipped');
        case 'none_failed':
          return bad ? 'upstream_failed' : done(true, '');
        case 'none_failed_min_one_success':
          return bad ? 'upstream_failed' : done(has('succeeded'), 'skipped');
        case 'none_skipped':
          return has('skipped') ? 'skipped' : done(true, '');
        case 'all_skipped':
          return has('succeeded', 'failed', 'upstream_failed') ? 'skipped' : done(true, '');
        case 'always':
          return 'ready';
      }
    })();
    if (verdict !== 'ready' || when === undefined) return verdict;
    return condition(when.expression);
  }

  /** As far as the tests go. */
  function condition(expression: Expression): string {
    if (expression.op !== 'lt' && expression.op !== 'ne' && expression.op !== 'eq')
      throw new Error('a condition that tests do not have');
    const values: unknown[] = [];
    for (const side of [expression.left, expression.right]) {
      if (side.op === 'value') values.push(side.value);
      else if (side.op === 'task') {
        if (!isOver(states[side.task]!)) return 'blocked';
        const output = states[side.task] === 'succeeded' ? ended.get(side.task)?.output : null;
        values.push(at(output, tasks[side.task]!.facts![side.fact]!));
      } else if (side.op === 'params') values.push(at(params, spec.paramFacts![side.fact]!));
    }
    const [a, b] = values;
    if (expression.op === 'ne') return a === b ? 'skipped' : 'ready';
    if (expression.op === 'eq') return a === b ? 'ready' : 'skipped';
    return typeof a !== 'number' || typeof b !== 'number' ? 'failed' : a < b ? 'ready' : 'skipped';
  }

  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    tasks.forEach((_, no) => {
      if (states[no] !== 'blocked') return;
      states[no] = decide(no);
      if (states[no] !== 'blocked') isChanged = true;
    });
  }
  return states;
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) === (typeof step === 'string')) return null;
    found = (found as Record<string | number, unknown>)[step] ?? null;
  }
  return found ?? null;
}

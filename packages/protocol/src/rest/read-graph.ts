/** What a dag says of how its tasks depend on each other, beyond needs: rules, conditions, branches, policies. */
import type { Problem } from '../errors.ts';
import { MAX_CLOSERS, MAX_FACTS } from '../limits.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { type ExpressionShape, readExpression } from './expression.ts';
import type { Path } from './references.ts';

type Tasks = ParsedDagDefinition['tasks'];

export interface ConditionShape {
  readonly text: string;
  readonly expression: ExpressionShape;
}

export interface ReadConditions {
  /** By number of the task. */
  readonly when: ReadonlyMap<number, ConditionShape>;
  /** The tasks that each condition looks at: it needs them. */
  readonly looksAt: ReadonlyMap<number, ReadonlySet<number>>;
  /** Paths into the outputs of tasks, by their number. */
  readonly facts: ReadonlyMap<number, readonly Path[]>;
  readonly paramFacts: readonly Path[];
}

/** Each path is taken out once, whoever looks at it. */
class Paths {
  readonly list: Path[] = [];
  readonly #numbers = new Map<string, number>();

  /** Its number; null when there are too many. */
  numberOf(path: Path): number | null {
    const key = JSON.stringify(path);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.list.length >= MAX_FACTS) return null;
    this.#numbers.set(key, this.list.length);
    return this.list.push(path) - 1;
  }
}

export function readConditions(
  tasks: Tasks,
  numbers: ReadonlyMap<string, number>,
  problems: Problem[],
): ReadConditions {
  const when = new Map<number, ConditionShape>();
  const looksAt = new Map<number, ReadonlySet<number>>();
  const [facts, params] = [new Map<number, Paths>(), new Paths()];
  tasks.forEach((task, no) => {
    if (task.when === undefined) return;
    const seen = new Set<number>();
    const read = readExpression(task.when, {
      task(name, path) {
        const up = numbers.get(name);
        if (up === undefined) return `there is no task ${name}`;
        if (up === no) return `${name} needs itself`;
        seen.add(up);
        const paths = facts.get(up) ?? new Paths();
        facts.set(up, paths);
        const fact = paths.numberOf(path);
        return fact === null ? tooMany(`the output of ${name}`) : { op: 'task', task: up, fact };
      },
      params(path) {
        const fact = params.numberOf(path);
        return fact === null ? tooMany('the params') : { op: 'params', fact };
      },
    });
    if (!read.ok) problems.push({ path: `tasks[${no}].when`, message: read.message });
    else when.set(no, { text: task.when.trim(), expression: read.expression });
    looksAt.set(no, seen);
  });
  return {
    when,
    looksAt,
    facts: new Map([...facts].map(([no, { list }]) => [no, list])),
    paramFacts: params.list,
  };
}

const tooMany = (what: string) => `conditions look at more than ${MAX_FACTS} places in ${what}`;

/** Fields of the spec, where they differ from what a task is by default. */
export function graphFields(task: Tasks[number], no: number, { when, facts }: ReadConditions) {
  const [condition, paths] = [when.get(no), facts.get(no)];
  return {
    ...(task.rule === undefined || task.rule === 'all_success' ? {} : { rule: task.rule }),
    ...(condition === undefined ? {} : { when: condition }),
    ...(task.branch === true ? { branch: true as const } : {}),
    ...(task.shortCircuit === undefined || task.shortCircuit === false
      ? {}
      : { shortCircuit: task.shortCircuit === 'all' ? ('all' as const) : ('next' as const) }),
    ...(task.setup === true ? { setup: true as const } : {}),
    ...(paths === undefined ? {} : { facts: paths }),
  };
}

/** What does not go together, or can't do anything. */
export function checkGraph(tasks: Tasks, needs: readonly (readonly number[])[], problems: Problem[]): void {
  const needed = new Set(needs.flat());
  tasks.forEach((task, no) => {
    if (task.branch !== true) return;
    const path = `tasks[${no}].branch`;
    if (!needed.has(no)) problems.push({ path, message: 'has nothing to choose from: no task needs this one' });
    if (task.shortCircuit)
      problems.push({ path, message: 'does not go with shortCircuit: a branch that chooses none skips all' });
  });
  const closers = tasks.flatMap(({ shortCircuit }, no) => (shortCircuit === 'all' ? [no] : []));
  if (closers.length > MAX_CLOSERS) {
    const message = `is one of ${closers.length} with all; ${MAX_CLOSERS} are allowed`;
    problems.push({ path: `tasks[${closers[MAX_CLOSERS]}].shortCircuit`, message });
  }
}

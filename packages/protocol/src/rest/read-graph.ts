/** What a dag says of how its tasks depend on each other, beyond needs: rules, conditions, branches, policies. */
import type { Problem } from '../errors.ts';
import { MAX_CLOSERS } from '../limits.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { type ExpressionShape, readExpression } from './expression.ts';
import { type Facts, tooManyFacts } from './facts.ts';
import type { ReadGroups } from './read-groups.ts';
import { FAILURE_CLASSES } from './retries.ts';
import { unknownTask } from './unknown-task.ts';

type Tasks = ParsedDagDefinition['tasks'];

export interface ConditionShape {
  readonly text: string;
  readonly expression: ExpressionShape;
}

interface ReadConditions {
  /** By number of the task. */
  readonly when: ReadonlyMap<number, ConditionShape>;
  /** The tasks that each condition looks at: it needs them. */
  readonly looksAt: ReadonlyMap<number, ReadonlySet<number>>;
}

export function readConditions(
  tasks: Tasks,
  known: {
    readonly numbers: ReadonlyMap<string, number>;
    readonly groups: ReadGroups;
    readonly facts: Facts;
    readonly onFailure?: ParsedDagDefinition['onFailure'];
  },
  problems: Problem[],
): ReadConditions {
  const { numbers, groups, facts, onFailure } = known;
  const when = new Map<number, ConditionShape>();
  const looksAt = new Map<number, ReadonlySet<number>>();
  tasks.forEach((task, no) => {
    if (task.when === undefined) return;
    const seen = new Set<number>();
    const path = `tasks[${no}].when`;
    let missing: Problem | null = null;
    const noTask = (name: string): string => (missing = unknownTask(path, name)).message;
    const read = readExpression(task.when, {
      task(name, path) {
        const up = numbers.get(name);
        if (up === undefined) return noTask(name);
        if (up === no) return `${name} needs itself`;
        seen.add(up);
        if (groups.isList(up, no)) return `${name} is mapped, and has one output for each item: ${GATHER}`;
        const fact = facts.ofTask(up, path);
        return fact === null ? tooManyFacts(`the output of ${name}`) : { op: 'task', task: up, fact };
      },
      error(name, of) {
        const up = numbers.get(name);
        if (up === undefined) return noTask(name);
        if (up === no) return `${name} needs itself`;
        seen.add(up);
        if (groups.isList(up, no)) return `${name} is mapped, and each item fails by itself: ${GATHER}`;
        if (onFailure !== 'skip_failed' && NO_FAILURE.has(task.rule ?? 'all_success'))
          return `${name} has not failed when the rule ${task.rule ?? 'all_success'} lets this task run: give it a rule such as one_failed or all_done`;
        facts.lookAtError(up);
        return { op: 'error', task: up, of };
      },
      params(path) {
        const fact = facts.ofParams(path);
        return fact === null ? tooManyFacts('the params') : { op: 'params', fact };
      },
    });
    const unknown = read.ok ? unknownClass(read.expression) : null;
    if (!read.ok) problems.push(missing ?? { path, message: read.message });
    else if (unknown !== null) problems.push({ path, message: unknown });
    else when.set(no, { text: task.when.trim(), expression: read.expression });
    looksAt.set(no, seen);
  });
  return { when, looksAt };
}

const NO_FAILURE: ReadonlySet<string> = new Set(['all_success', 'none_failed', 'none_failed_min_one_success']);
const ERROR_CLASSES: readonly unknown[] = [...FAILURE_CLASSES, 'lost', 'cancelled', null];

/** An error class is compared with a text that is none, and so never equal to it. */
function unknownClass(expression: ExpressionShape): string | null {
  const isClass = (side: ExpressionShape) => side.op === 'error' && side.of === 'class';
  const wrong = (side: ExpressionShape) =>
    side.op === 'value' && !ERROR_CLASSES.includes(side.value)
      ? `${JSON.stringify(side.value)} is no class of an error: there are ${ERROR_CLASSES.slice(0, -1).join(', ')}`
      : null;
  const firstOf = (list: readonly (string | null)[]) => list.find((each) => each !== null) ?? null;
  switch (expression.op) {
    case 'eq':
    case 'ne': {
      const { left, right } = expression;
      if (isClass(left)) return wrong(right);
      return isClass(right) ? wrong(left) : null;
    }
    case 'in':
      return isClass(expression.left) ? firstOf(expression.list.map(wrong)) : null;
    case 'not':
      return unknownClass(expression.of);
    case 'and':
    case 'or':
      return firstOf(expression.of.map(unknownClass));
    default:
      return null;
  }
}

const GATHER = 'let a task that needs it make one value of them, and look at that';

/** Fields of the spec, where they differ from what a task is by default. */
export function graphFields(task: Tasks[number], no: number, { when }: ReadConditions, facts: Facts) {
  const [condition, paths] = [when.get(no), facts.pathsOf(no)];
  return {
    ...(task.rule === undefined || task.rule === 'all_success' ? {} : { rule: task.rule }),
    ...(condition === undefined ? {} : { when: condition }),
    ...(task.branch === true ? { branch: true as const } : {}),
    ...(task.shortCircuit === undefined || task.shortCircuit === false
      ? {}
      : { shortCircuit: task.shortCircuit === 'all' ? ('all' as const) : ('next' as const) }),
    ...(paths === undefined ? {} : { facts: paths }),
    ...(facts.tellsError(no) ? { tellsError: true as const } : {}),
  };
}

/** What does not go together, or can't do anything. */
export function checkGraph(
  tasks: Tasks,
  needs: readonly (readonly number[])[],
  groups: ReadGroups,
  problems: Problem[],
): void {
  const needed = new Set(needs.flat());
  tasks.forEach((task, no) => {
    if (task.branch !== true) return;
    const path = `tasks[${no}].branch`;
    if (!needed.has(no)) problems.push({ path, message: 'has nothing to choose from: no task needs this one' });
    if (task.shortCircuit)
      problems.push({ path, message: 'does not go with shortCircuit: a branch that chooses none skips all' });
  });
  needs.forEach((of, down) => {
    for (const up of of) {
      if (tasks[up]?.branch !== true || !groups.isList(up, down)) continue;
      const message = `chooses for its own item: ${tasks[down]?.name} is outside its map, and can't be among them`;
      problems.push({ path: `tasks[${up}].branch`, message });
    }
  });
  const closers = tasks.flatMap(({ shortCircuit }, no) => (shortCircuit === 'all' ? [no] : []));
  if (closers.length > MAX_CLOSERS) {
    const message = `is one of ${closers.length} with all; ${MAX_CLOSERS} are allowed`;
    problems.push({ path: `tasks[${closers[MAX_CLOSERS]}].shortCircuit`, message });
  }
}

/**
 * A run up to a chosen task: only that task and what it depends on run. The run has its own spec: that of its version, with
 * all other tasks marked as `outside`. Those are skipped when the run begins. Everything else just uses that spec.
 */
import { closingKind } from './closing-plan.ts';
import type { DagSpec, TaskSpec } from './spec.ts';

type UntilFault =
  | { readonly fault: 'unknown'; readonly known: readonly string[] }
  | { readonly fault: 'closes'; readonly kind: string };

/** Null when a run of the dag may go up to there: an ordinary task, or a group of some. */
function untilFault(spec: DagSpec, until: string): UntilFault | null {
  const found = spec.tasks.find(({ name }) => name === until);
  if (found === undefined) {
    if (targetsOf(spec, until).length > 0) return null;
    return { fault: 'unknown', known: spec.tasks.filter(isOrdinary).map(({ name }) => name) };
  }
  if (isOrdinary(found)) return null;
  return { fault: 'closes', kind: closingKind(found) ?? 'hook' };
}

const isOrdinary = (task: TaskSpec) => closingKind(task) === null && task.hook === undefined;

/** The spec of a run that goes up to this task or group. The same spec when that is all of it. */
export function limitSpec(spec: DagSpec, until: string | undefined): DagSpec {
  if (until === undefined) return spec;
  const inside = insideOf(spec, until);
  if (spec.tasks.every((_, no) => inside.has(no))) return spec;
  const limited = spec.tasks.map((task, no): TaskSpec => {
    if (inside.has(no)) return task;
    // Whatever maps are around it, it is one task that is skipped.
    const { group: _, ...rest } = task;
    return { ...rest, outside: true };
  });
  return { ...spec, tasks: limited, until };
}

function targetsOf({ tasks, groups = [] }: DagSpec, until: string): number[] {
  const isIn = (group: number | null | undefined): boolean =>
    group != null && (groups[group]!.name === until || isIn(groups[group]!.parent));
  const named = tasks.findIndex(({ name }) => name === until);
  if (named >= 0) return [named];
  return tasks.flatMap((task, no) => (isOrdinary(task) && isIn(task.group) ? [no] : []));
}

function insideOf(spec: DagSpec, until: string): ReadonlySet<number> {
  const { tasks, groups = [] } = spec;
  const sourcesOf = (group: number | null | undefined): number[] => {
    if (group == null) return [];
    const { map, parent } = groups[group]!;
    const own = map?.over.flatMap((source) => (source.from === 'task' ? [source.task] : [])) ?? [];
    return [...own, ...sourcesOf(parent)];
  };
  const inside = new Set<number>();
  const stack = targetsOf(spec, until);
  for (let no = stack.pop(); no !== undefined; no = stack.pop()) {
    if (inside.has(no)) continue;
    inside.add(no);
    stack.push(...tasks[no]!.needs, ...sourcesOf(tasks[no]!.group));
  }
  // What belongs to a task goes with it; a teardown goes with its setups, and one without any with what it waits for.
  const ordinary = new Set(inside);
  tasks.forEach(({ teardown, undoes, hook, needs }, no) => {
    const of = teardown === undefined ? [undoes ?? hook?.of ?? null] : teardown.length > 0 ? teardown : needs;
    const belongs = teardown !== undefined || undoes !== undefined || hook !== undefined;
    if (belongs && of.some((up) => up === null || ordinary.has(up))) inside.add(no);
  });
  return inside;
}

const NAMED = 10;

/** Why a run can't go up to this task, in words; null when it can. */
export function untilFaultText(spec: DagSpec, until: string): string | null {
  const found = untilFault(spec, until);
  if (found === null) return null;
  if (found.fault === 'closes') return `${until} is a ${found.kind}: name an ordinary task, or a group`;
  const listed = found.known.slice(0, NAMED).join(', ') + (found.known.length > NAMED ? ', …' : '');
  return `the dag has no task or group ${until}; its tasks are ${listed}`;
}

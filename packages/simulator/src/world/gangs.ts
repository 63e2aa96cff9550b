/** Gangs: mapped tasks whose instances begin together, on so many workers as each history has for them. */
import { type DagSpec, misfitOf, NO_TRAITS, requestOf, type TaskSpec } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import type { WorkerShape } from './worker-shape.ts';
import type { PlannedDag } from './workload.ts';

/** In half of the histories there are none. */
export function usesGangs(chance: Chance): boolean {
  return chance.fork('use of gangs').happens(0.5);
}

const LARGEST = 3;

export function planGangs(chance: Chance, dags: readonly PlannedDag[], workers: readonly WorkerShape[]): PlannedDag[] {
  return dags.map((dag) => {
    // The limit of the newest version counts for all.
    const most = Math.min(...dag.versions.map(({ maxActiveTasks }) => maxActiveTasks ?? LARGEST));
    const able = workers.filter(({ tenants }) => tenants === null || tenants.includes(dag.tenantId));
    return { ...dag, versions: dag.versions.map((spec) => withGangs(chance, spec, able, most)) };
  });
}

function withGangs(chance: Chance, spec: DagSpec, workers: readonly WorkerShape[], most: number): DagSpec {
  if (spec.templates !== undefined || spec.rate !== undefined) return spec;
  const groups = [...(spec.groups ?? [])];
  const tasks = spec.tasks.map((task, no): TaskSpec => {
    if (!mayBeGang(spec, task, no) || !chance.happens(0.6)) return task;
    const largest = Math.min(most, spec.maxActiveTasksPerRun ?? LARGEST, task.maxActive ?? LARGEST, LARGEST);
    const gang = drawGang(chance, task, workers, largest);
    if (gang === null) return task;
    groups.push({
      name: `gang-${no}`,
      parent: null,
      map: { over: [{ from: 'list', length: gang.size }], mode: 'product' },
    });
    return { ...task, group: groups.length - 1, placement: { ...task.placement, gang } };
  });
  return groups.length === (spec.groups?.length ?? 0) ? spec : { ...spec, tasks, groups };
}

/** An ordinary task, without what the definition refuses for gangs. */
function mayBeGang({ tasks }: DagSpec, task: TaskSpec, no: number): boolean {
  const { child, group, hook, teardown, undoes, pool, rate, branch, shortCircuit, adds, setup } = task;
  const isPlain = [child, group, hook, teardown, undoes, pool, rate, branch, shortCircuit, adds, setup].every(
    (value) => value === undefined,
  );
  return isPlain && !tasks.some((other) => other.undoes === no || other.hook?.of === no);
}

/** As large as workers can take at once, or null. */
function drawGang(
  chance: Chance,
  { queue, placement }: TaskSpec,
  workers: readonly WorkerShape[],
  largest: number,
): { size: number; share?: true } | null {
  const request = requestOf(placement);
  const able = workers.filter(
    ({ queues, traits = NO_TRAITS }) =>
      queues.includes(queue) && (request === null || misfitOf(request, traits) === null),
  );
  const mayShare = request === null || Object.keys(request.resources).length === 0;
  const places = mayShare ? able.reduce((sum, { slots }) => sum + slots, 0) : 0;
  if (mayShare && request?.exclusive !== true && Math.min(places, largest) >= 2 && chance.happens(0.4))
    return { size: chance.int(2, Math.min(places, largest)), share: true };
  const size = Math.min(able.length, largest);
  return size < 2 ? null : { size: chance.int(2, size) };
}

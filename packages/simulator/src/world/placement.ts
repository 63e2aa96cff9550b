/** What workers offer and tasks ask for, drawn. */
import type { PlacementSpec, TaskSpec, WorkerTraits } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import type { PlannedDag } from './workload.ts';

/** In half of the histories nobody asks for more than a slot. */
export function usesPlacement(chance: Chance): boolean {
  return chance.fork('use of placement').happens(0.5);
}

/** The first worker has all that anybody asks for, so that each task has a worker that fits. */
export function planTraits(chance: Chance, no: number, slots: number): WorkerTraits {
  if (no === 0) return { slots, resources: { cpu: 2_000, gpu: 1 }, labels: { disk: 'ssd', zone: 'a' } };
  const gpu = chance.int(0, 2);
  return {
    slots,
    resources: { cpu: chance.pick([500, 1_000, 4_000]), ...(gpu > 0 && { gpu }) },
    labels: {
      disk: chance.pick(['ssd', 'hdd']),
      zone: chance.pick(['a', 'b']),
      ...(chance.happens(0.3) && { spot: 'true' }),
    },
  };
}

export function planPlacement(chance: Chance, dags: readonly PlannedDag[]): PlannedDag[] {
  const stays = chance.fork('tasks that opted out');
  const placed = (task: TaskSpec): TaskSpec => {
    const own = stays.happens(0.15) ? { ...task, preemptible: false as const } : task;
    return own.child !== undefined || chance.happens(0.4) ? own : { ...own, placement: drawPlacement(chance) };
  };
  return dags.map((dag) => ({
    ...dag,
    versions: dag.versions.map(({ templates, ...spec }) => ({
      ...spec,
      tasks: spec.tasks.map(placed),
      ...(templates !== undefined && { templates: templates.map(placed) }),
    })),
  }));
}

function drawPlacement(chance: Chance): PlacementSpec {
  const cpu = chance.happens(0.6) ? chance.pick([500, 1_000, 1_500, 2_000]) : 0;
  const gpu = chance.happens(0.2) ? 1 : 0;
  return {
    resources: { ...(cpu > 0 && { cpu }), ...(gpu > 0 && { gpu }) },
    ...(chance.happens(0.2) && { labels: { disk: 'ssd' } }),
    ...(chance.happens(0.2) && { prefer: { zone: chance.pick(['a', 'b']) } }),
    ...(chance.happens(0.2) && { near: [0] }),
    ...(chance.happens(0.2) && { spread: { of: chance.pick(['run', 'dag'] as const) } }),
    ...(chance.happens(0.15) && { spot: 'never' as const }),
    ...(chance.happens(0.08) && { exclusive: true as const }),
  };
}

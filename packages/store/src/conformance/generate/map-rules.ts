/** Maps that expand, and tasks that are added. */
import type { TaskNo } from '@signalbox/engine';
import type { Rules } from './rule.ts';
import type { World } from './world.ts';

const FIRST_NO = 3;

export const mapRules = {
  MapExpanded: {
    weight: 3,
    given(world) {
      const { chance } = world;
      const run = world.openRun();
      if (run === null) return null;
      const { maps = [] } = run;
      const last = maps.at(-1);
      const firstNo = last === undefined ? FIRST_NO : last.firstNo + Math.max(1, last.total * 2);
      const scope = last === undefined || chance.is(0.5) ? null : last.firstNo;
      return { runId: run.runId, group: maps.length % 3, scope, firstNo, total: chance.below(5) };
    },
  },
  MapUnfolded: {
    weight: 2,
    given(world) {
      const map = someMap(world, ({ unfolded, total }) => unfolded < total);
      return map === null ? null : { runId: map.runId, firstNo: map.firstNo, until: map.unfolded + 1 };
    },
  },
  MapRemoved: {
    given(world) {
      const map = someMap(world, () => true);
      return map === null ? null : { runId: map.runId, firstNo: map.firstNo };
    },
  },
  TasksAdded: {
    weight: 2,
    given(world) {
      const { chance } = world;
      const found = world.runningTask();
      if (found === null) return null;
      const { taskNo, fence } = found.task;
      const known = found.run.added ?? [];
      // Some are named again.
      const first = known.length === 0 || chance.is(0.7) ? known.length : 0;
      const tasks = Array.from({ length: 1 + chance.below(3) }, (_, i) => ({
        no: (FIRST_NO + first + i) as TaskNo,
        by: taskNo,
        fence,
        name: `added-${first + i}`,
        template: i,
        needs: [taskNo],
        before: chance.is(0.5) ? [] : [2],
        inputs: chance.is(0.5) ? null : `{"it's":"\\u0000 \\\\ \\"€\\"","no":${i}}`,
        isDropped: false,
      }));
      return { runId: found.run.runId, taskNo, fence, tasks };
    },
  },
  TasksDropped: {
    given(world) {
      const found = world.runningTask(({ added = [] }) => added.length > 0);
      const last = found?.run.added?.at(-1);
      if (found === null || last === undefined) return null;
      const { taskNo, fence } = found.task;
      return { runId: found.run.runId, taskNo, fence, tasks: [{ ...last, isDropped: true }] };
    },
  },
} satisfies Rules;

function someMap(world: World, fits: (map: { readonly unfolded: number; readonly total: number }) => boolean) {
  const isUsed = (map: { readonly unfolded: number; readonly total: number; readonly isRemoved: boolean }) =>
    !map.isRemoved && fits(map);
  const run = world.openRun(({ maps = [] }) => maps.some(isUsed));
  return run === null ? null : { runId: run.runId, ...world.chance.one((run.maps ?? []).filter(isUsed)) };
}

/** What people do to runs by hand, drawn: clear, mark, pause, cancel a task, change a priority; with and without force, now and then only to look. */
import { type Actor, type Command, MARKS, PRIORITIES, type RunId, type TaskNo, type TenantId } from '@signalbox/engine';
import type { ModelTables } from '@signalbox/engine/testing';
import type { Chance } from './chance.ts';

/** Of how many of the newest runs. */
const RECENT = 40;

export function planHand(
  chance: Chance,
  tables: ModelTables,
  who: { tenantId: TenantId; actor: Actor },
): Command | null {
  const runs = [...tables.runs.values()]
    .slice(-RECENT)
    .filter(({ outcome }) => outcome !== 'cancelled' || chance.happens(0.1));
  if (runs.length === 0) return null;
  const { runId, dagId, versionNo, added = [] } = chance.pick(runs);
  const count = (tables.versions.get(`${dagId}/${versionNo}`)?.spec.tasks.length ?? 1) + added.length;
  const some = () => Array.from({ length: chance.int(1, 3) }, () => chance.int(0, count - 1) as TaskNo);
  const how = { force: chance.happens(0.4), dryRun: chance.happens(0.1) };
  const draw = chance.next();
  if (draw < 0.5) {
    const states = chance.pick([null, ['failed'], ['succeeded'], ['failed', 'succeeded']] as const);
    const tasks = states === null || chance.happens(0.5) ? some() : null;
    const select = { tasks, states, downstream: chance.happens(0.6), upstream: chance.happens(0.15) };
    return { kind: 'ClearTasks', ...who, runId, select, ...how };
  }
  if (draw < 0.7) {
    const as = chance.pick(MARKS);
    const output = as === 'succeeded' && chance.happens(0.5) ? JSON.stringify({ n: chance.int(0, 3) }) : null;
    return { kind: 'MarkTasks', ...who, runId, tasks: some(), as, output, reason: null, ...how };
  }
  if (draw < 0.85) return { kind: 'SetPriority', ...who, runId, priority: chance.pick(PRIORITIES) };
  const taskNo = chance.happens(0.5) ? null : (chance.int(0, count - 1) as TaskNo);
  return { kind: 'SetPaused', ...who, runId, taskNo, paused: chance.happens(0.5) };
}

/** What is to be let go so that everything can end. */
export function pausesLeft(tables: ModelTables): { readonly runId: RunId; readonly taskNo: TaskNo | null }[] {
  return [...tables.runs.values()].flatMap(({ runId, phase, pauses }) =>
    phase !== 'ended' ? pauses.map(({ taskNo }) => ({ runId, taskNo })) : [],
  );
}

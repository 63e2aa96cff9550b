/** Tasks that depend on the past, drawn; and what users do about those that would wait for ever. */
import type { Actor, Command, DagSpec, RunId, ScheduleSpec, TenantId } from '@signalbox/engine';
import { readRunNotes } from '@signalbox/engine';
import type { ModelTables } from '@signalbox/engine/testing';
import type { Chance } from './chance.ts';

export function planPast(chance: Chance, spec: DagSpec): DagSpec {
  if (spec.schedule === null || !chance.happens(0.3)) return spec;
  const share = chance.pick([0.3, 1]);
  const { schedules } = spec;
  return {
    ...spec,
    tasks: spec.tasks.map((task) =>
      chance.happens(share) ? { ...task, past: chance.pick(['task', 'task', 'downstream'] as const) } : task,
    ),
    schedule: withoutCancel(spec.schedule),
    ...(schedules !== undefined && {
      schedules: schedules.map(({ name, spec: its }) => ({ name, spec: withoutCancel(its) })),
    }),
  };
}

/** Tasks would wait for what it cancels: such a definition is refused where it is read. */
function withoutCancel(schedule: ScheduleSpec): ScheduleSpec {
  return schedule.ifRunning === 'cancel_running' ? { ...schedule, ifRunning: 'queue_one' } : schedule;
}

/** Some run waits, or may come to wait: a backfill goes on. */
export function mayBeHeldByPast(tables: ModelTables): boolean {
  if (tables.described.all('backfills').some(({ state }) => state === 'running')) return true;
  return [...tables.runs.values()].some(
    ({ phase, setAside, notes }) => phase === 'open' && !setAside && (readRunNotes(notes).past?.left.length ?? 0) > 0,
  );
}

/** Runs that wait for a window whose runs have all ended, or wait so themselves: nobody would make it good any more. */
export function pastsLeft(tables: ModelTables, who: { readonly tenantId: TenantId; readonly actor: Actor }): Command[] {
  const live = [...tables.runs.values()].filter(({ phase, setAside }) => phase !== 'ended' && !setAside);
  const stuck = new Set<RunId>();
  const isStuck = ({ dagId, phase, scheduleNo, notes }: (typeof live)[number]): boolean => {
    const { past } = readRunNotes(notes);
    if (phase !== 'open' || past === undefined || past.left.length === 0) return false;
    return !live.some(
      (run) =>
        run.dagId === dagId && run.scheduleNo === scheduleNo && run.window?.at === past.at && !stuck.has(run.runId),
    );
  };
  // By age of their windows: what a run waits for comes before it.
  const inOrder = live.toSorted((a, b) => (a.window?.at ?? 0) - (b.window?.at ?? 0));
  for (const run of inOrder) if (isStuck(run)) stuck.add(run.runId);
  return [...stuck].map((runId) => ({ kind: 'CancelRun', runId, ...who }));
}

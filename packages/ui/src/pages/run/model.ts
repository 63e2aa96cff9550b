/** A run as its page shows it: columns and shape put together, row by row. */
import type { InstanceCounts, RunColumns, RunShape } from '@signalbox/protocol';
import { TASK_STATES } from '@signalbox/protocol/words';

export interface TaskRow {
  readonly no: number;
  readonly name: string;
  readonly state: string;
  readonly role: string;
  readonly kind: string;
  readonly group: string | null;
  readonly attempt: number;
  /** Milliseconds after the run was created. */
  readonly claimedMs: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly instances: InstanceCounts | null;
}

export function rowsOf(run: RunColumns, shape: RunShape): TaskRow[] {
  const { columns } = run;
  return shape.names.map((name, no) => {
    const group = shape.group[no] ?? null;
    return {
      no,
      name,
      state: stateAt(columns.state[no], run.instances[String(no)]),
      role: shape.role[no] ?? 'task',
      kind: shape.kind[no] ?? 'handler',
      group: group === null ? null : (shape.groups[group]?.name ?? null),
      attempt: columns.attempt[no] ?? 0,
      claimedMs: columns.claimedMs[no] ?? null,
      startedMs: columns.startedMs[no] ?? null,
      endedMs: columns.endedMs[no] ?? null,
      instances: run.instances[String(no)] ?? null,
    };
  });
}

/** A mapped task has the state that its items add up to: it runs while one of them does. */
export function stateAt(place: number | undefined, instances: InstanceCounts | undefined): string {
  const state = TASK_STATES[place ?? 0] ?? 'blocked';
  if (state !== 'expanded') return state;
  const { states = {}, total = 0 } = instances ?? {};
  if ((states.running ?? 0) > 0) return 'running';
  const ended =
    (states.succeeded ?? 0) +
    (states.failed ?? 0) +
    (states.skipped ?? 0) +
    (states.cancelled ?? 0) +
    (states.upstream_failed ?? 0);
  if (total === 0 || ended < total) return 'expanded';
  return (states.failed ?? 0) > 0 ? 'failed' : (states.cancelled ?? 0) > 0 ? 'cancelled' : 'succeeded';
}

/** Hooks and undos that had nothing to do are not worth a row. */
export const isIdle = ({ role, state }: TaskRow): boolean =>
  role !== 'task' && (state === 'skipped' || state === 'blocked');

export type Counts = Readonly<Record<string, number>>;

export function countStates(rows: readonly TaskRow[]): Counts {
  const counts: Record<string, number> = {};
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/**
 * The chain of tasks that decided how long the run took: from the one that ended last, back to whichever of its needs ended
 * last, to the start.
 */
export function criticalPath(rows: readonly TaskRow[], edges: readonly number[]): ReadonlySet<number> {
  const needs = new Map<number, number[]>();
  for (let i = 0; i < edges.length; i += 2) {
    const [need, task] = [edges[i] as number, edges[i + 1] as number];
    const known = needs.get(task);
    if (known === undefined) needs.set(task, [need]);
    else known.push(need);
  }
  const path = new Set<number>();
  let at = latest(
    rows.filter(({ role }) => role === 'task').map(({ no }) => no),
    rows,
  );
  while (at !== null && !path.has(at)) {
    path.add(at);
    at = latest(needs.get(at) ?? [], rows);
  }
  return path;
}

function latest(nos: readonly number[], rows: readonly TaskRow[]): number | null {
  let found: number | null = null;
  for (const no of nos) {
    const ended = rows[no]?.endedMs ?? null;
    if (ended !== null && (found === null || ended > (rows[found]?.endedMs ?? 0))) found = no;
  }
  return found;
}

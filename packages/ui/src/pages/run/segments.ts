/** The parts of a task's line in the Gantt chart, in milliseconds after the run was created. */
import type { TaskView } from '@signalbox/protocol';
import { span } from '../../parts/format.ts';
import type { TaskRow } from './model.ts';

export interface Segment {
  readonly kind: 'wait' | 'run';
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: string;
  readonly label: string;
}

interface Frame {
  readonly start: number;
  readonly totalMs: number;
  readonly nowMs: number;
}

/** With all attempts where they are known, else the last one alone; each after the time that the task waited for it. */
export function segmentsOf(row: TaskRow, task: TaskView | undefined, readyMs: number, frame: Frame): Segment[] {
  if (task === undefined) return [...waitOf(readyMs, row.claimedMs), ...attemptOf(row.attempt, row, frame, row.state)];
  let sinceMs = readyMs;
  return task.attempts.flatMap((attempt) => {
    const after = (at: string | null) => (at === null ? null : Date.parse(at) - frame.start);
    const times = {
      claimedMs: after(attempt.claimedAt),
      startedMs: after(attempt.startedAt),
      endedMs: after(attempt.endedAt),
    };
    // A speculative attempt begins beside the other one.
    const waited = attempt.speculative ? [] : waitOf(sinceMs, times.claimedMs);
    sinceMs = times.endedMs ?? sinceMs;
    return [...waited, ...attemptOf(attempt.attempt, times, frame, attempt.outcome ?? 'running')];
  });
}

function waitOf(fromMs: number, toMs: number | null): Segment[] {
  if (toMs === null || toMs <= fromMs) return [];
  return [{ kind: 'wait', fromMs, toMs, state: 'ready', label: `Waited for ${span(toMs - fromMs)}` }];
}

/** When the last of the tasks that each one needs had ended; 0 for one that needs none. */
export function readyTimes(rows: readonly TaskRow[], edges: readonly number[]): number[] {
  const ready = rows.map(() => 0);
  for (let i = 0; i < edges.length; i += 2) {
    const [need, task] = [edges[i] as number, edges[i + 1] as number];
    ready[task] = Math.max(ready[task] ?? 0, rows[need]?.endedMs ?? 0);
  }
  return ready;
}

interface Times {
  readonly claimedMs: number | null;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
}

function attemptOf(
  no: number,
  { claimedMs, startedMs, endedMs }: Times,
  { totalMs, nowMs }: Frame,
  state: string,
): Segment[] {
  if (claimedMs === null) return [];
  const begin = startedMs ?? claimedMs;
  const end = Math.min(endedMs ?? nowMs, Math.max(totalMs, begin));
  const segments: Segment[] = [];
  if (begin > claimedMs) {
    segments.push({
      kind: 'wait',
      fromMs: claimedMs,
      toMs: begin,
      state,
      label: `Attempt ${no}: on its way for ${span(begin - claimedMs)}`,
    });
  }
  segments.push({
    kind: 'run',
    fromMs: begin,
    toMs: Math.max(begin, end),
    state,
    label: `Attempt ${no}: ${span(end - begin)}`,
  });
  return segments;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5,
  432e5, 864e5,
];
const MOST_TICKS = 8;

/** Round times, a handful of them. */
export function ticksOf(totalMs: number): number[] {
  const step = STEPS.find((one) => totalMs / one <= MOST_TICKS) ?? Math.ceil(totalMs / MOST_TICKS / 864e5) * 864e5;
  return Array.from({ length: Math.floor(totalMs / step) + 1 }, (_, at) => at * step);
}

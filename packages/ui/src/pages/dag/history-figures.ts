/** How long runs took and how they ended, from the columns of the history. */
import type { DagHistory } from '@signalbox/protocol';

export interface PastRun {
  readonly id: string;
  readonly createdMs: number;
  readonly tookMs: number | null;
  /** The outcome, or the state of a run that has not ended. */
  readonly state: string;
}

/** Oldest first. */
export function pastRuns({ ids, state, outcome, createdAt, tookMs }: DagHistory): PastRun[] {
  return ids
    .map((id, at) => ({
      id,
      createdMs: Date.parse(createdAt[at] ?? ''),
      tookMs: tookMs[at] ?? null,
      state: outcome[at] ?? state[at] ?? 'ended',
    }))
    .reverse();
}

/** The value that so many of a hundred do not exceed; null without any. */
export function percentile(values: readonly number[], percent: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] as number;
}

export interface Day {
  /** Noon of the day in the viewer's zone: an hour more or less does not make it another day. */
  readonly noonMs: number;
  readonly total: number;
  readonly failed: number;
  /** Is before the oldest run that is known. */
  readonly isUnknown: boolean;
}

const DAY_MS = 86_400_000;
const noonOf = (ms: number): number => {
  const date = new Date(ms);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate(), 12).getTime();
};

/** Whole weeks from Monday on, the current one last. */
export function weeksOf(runs: readonly PastRun[], now: number, weekCount: number): Day[][] {
  const byDay = new Map<number, { total: number; failed: number }>();
  for (const { createdMs, state } of runs) {
    const known = byDay.get(noonOf(createdMs)) ?? { total: 0, failed: 0 };
    byDay.set(noonOf(createdMs), { total: known.total + 1, failed: known.failed + (state === 'failed' ? 1 : 0) });
  }
  const today = noonOf(now);
  const sinceMonday = (new Date(today).getDay() + 6) % 7;
  const oldest = runs[0] === undefined ? today : noonOf(runs[0].createdMs);
  return Array.from({ length: weekCount }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const noonMs = noonOf(today - (sinceMonday - weekday + (weekCount - 1 - week) * 7) * DAY_MS);
      const { total, failed } = byDay.get(noonMs) ?? { total: 0, failed: 0 };
      return { noonMs, total, failed, isUnknown: noonMs < oldest || noonMs > today };
    }),
  );
}

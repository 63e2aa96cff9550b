/** How long runs took and how they ended, from the columns of the history. */
import type { DagHistory, EndedSums, Stats } from '@signalbox/protocol';

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
  /** Is before the first run that is known, or still to come. */
  readonly isUnknown: boolean;
}

const DAY_MS = 86_400_000;
const noonOf = (ms: number): number => {
  const date = new Date(ms);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate(), 12).getTime();
};
/** Of a date such as `2026-11-17`, as the viewer's calendar has it. */
const noonOfDate = (date: string): number => {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  return new Date(year, month - 1, day, 12).getTime();
};

const totalOf = ({ succeeded, failed, cancelled }: EndedSums): number => succeeded + failed + cancelled;

/** Whole weeks from Monday on, the current one last. */
export function weeksOf(steps: Stats['steps'], now: number, weekCount: number): Day[][] {
  const byDay = new Map(steps.map((step) => [noonOfDate(step.from), step]));
  const today = noonOf(now);
  const sinceMonday = (new Date(today).getDay() + 6) % 7;
  const first = steps.find((step) => totalOf(step) > 0);
  const oldest = first === undefined ? today : noonOfDate(first.from);
  return Array.from({ length: weekCount }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const noonMs = noonOf(today - (sinceMonday - weekday + (weekCount - 1 - week) * 7) * DAY_MS);
      const step = byDay.get(noonMs);
      const [total, failed] = step === undefined ? [0, 0] : [totalOf(step), step.failed];
      return { noonMs, total, failed, isUnknown: noonMs < oldest || noonMs > today };
    }),
  );
}

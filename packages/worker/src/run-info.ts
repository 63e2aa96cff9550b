/** What an assignment tells about its run. */
import type { RunWindow } from '@signalbox/sdk/handler';

interface RunInfo {
  readonly createdAt?: string;
  readonly priority?: string;
  readonly window?: string | null;
  /** Servers of older versions do not tell it. */
  readonly windowStart?: string | null;
  readonly unmet?: string | null;
  readonly assets?: string | null;
}

export function readRunInfo(text: string): RunInfo {
  return text === '' ? {} : (JSON.parse(text) as RunInfo);
}

/** Null for a run without one. The interval ends with the window's own time. */
export function windowIn(text: string): RunWindow | null {
  const { window, windowStart } = readRunInfo(text);
  if (window === null || window === undefined) return null;
  return { at: new Date(window), start: new Date(windowStart ?? window), end: new Date(window) };
}

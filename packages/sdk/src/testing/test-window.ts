import type { RunWindow } from '../handler.ts';

/** A window, as tests give it: dates or ISO 8601 texts. */
export interface TestWindow {
  readonly at: Date | string;
  readonly start?: Date | string;
}

export function windowOf(window: TestWindow | undefined): RunWindow | null {
  if (window === undefined) return null;
  const { at, start = at } = window;
  return { at: new Date(at), start: new Date(start), end: new Date(at) };
}

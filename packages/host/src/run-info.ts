/** What a task is told about its run, as it travels. */
import type { RunInfo } from '@signalbox/engine';

export interface ToldOfRun {
  readonly createdAt: string;
  readonly priority: string;
  readonly window: string | null;
}

export function toldOfRun({ createdAt, priority, window }: RunInfo): ToldOfRun {
  const iso = (at: number) => new Date(at).toISOString();
  return { createdAt: iso(createdAt), priority, window: window === null ? null : iso(window) };
}

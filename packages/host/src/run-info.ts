/** What a task learns about its run, in the form in which it is sent. */
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

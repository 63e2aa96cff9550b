/** What a task learns about its run, in the form in which it is sent. */
import type { RunInfo } from '@signalbox/engine';

export interface ToldOfRun {
  readonly createdAt: string;
  readonly priority: string;
  readonly window: string | null;
  /** Where the data interval of the window begins; it ends with the window. */
  readonly windowStart: string | null;
  /** Dags that did not succeed in time for what the window requires, as one text. */
  readonly unmet: string | null;
  /** Names of the assets that it was created by, as one text. */
  readonly assets: string | null;
}

export function toldOfRun({ createdAt, priority, window, unmet, assets }: RunInfo): ToldOfRun {
  const iso = (at: number) => new Date(at).toISOString();
  const [at, start] = window === null ? [null, null] : [iso(window.at), iso(window.start)];
  return {
    createdAt: iso(createdAt),
    priority,
    window: at,
    windowStart: start,
    unmet: unmet?.join(', ') ?? null,
    assets: assets?.map(({ name }) => name).join(', ') ?? null,
  };
}

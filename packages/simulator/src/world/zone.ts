/**
 * The time zones of the simulated world: UTC, and one whose clocks are set within the history, at an instant that newer zone data moves.
 * Expressions of histories step within the minute or the hour, and such keep their pace through clock changes: whatever the data says, no
 * window is lost and none fires twice. Zones of the real world have tests of their own.
 */
import type { Instant, ZoneData } from '@signalbox/engine';
import { WORLD_BEGAN_AT } from './process.ts';

const TWO_DAYS_MS = 2 * 86_400_000;
const HOUR_MS = 3_600_000;

export const MOVING = 'Sim/Moving';

export class SimZones {
  /** All nodes of a cluster use the same data. */
  edition = 1;
  /** When clocks are set, by edition, and by how much. */
  readonly #changes: readonly { readonly atMs: number; readonly offsetMs: number }[];

  /** `afterMs`: how long after the beginning of the world. */
  constructor(changes: readonly { readonly afterMs: number; readonly byHours: number }[]) {
    this.#changes = changes.map(({ afterMs, byHours }) => ({
      atMs: WORLD_BEGAN_AT + Math.floor(afterMs),
      offsetMs: byHours * HOUR_MS,
    }));
  }

  readonly data = (zone: string, from: Instant, until: Instant): ZoneData => {
    const span = { fromMs: from - TWO_DAYS_MS, untilMs: until + TWO_DAYS_MS, initialOffsetMs: 0 };
    if (zone === 'UTC') return { zone, tzVersion: 'sim', ...span, transitions: [] };
    const change = this.#changes[this.edition - 1];
    if (zone !== MOVING || change === undefined)
      throw new RangeError(`there is no time zone ${zone} in this world, or no edition ${this.edition}`);
    const tzVersion = `sim ${this.edition}`;
    // Before the span: all of it has the offset after the change.
    if (change.atMs <= span.fromMs)
      return { zone, tzVersion, ...span, initialOffsetMs: change.offsetMs, transitions: [] };
    return { zone, tzVersion, ...span, transitions: change.atMs < span.untilMs ? [change] : [] };
  };
}

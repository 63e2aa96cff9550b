/**
 * The time zones of the simulated world: UTC, one whose clocks are set within the history, at an instant that newer zone data moves, and
 * one whose offset is another by newer data. Expressions in the first two step within the minute or the hour, and such keep their pace
 * through clock changes: whatever the data says, no window is lost and none fires twice. Those in the last name a time of the day, which
 * newer data moves by seconds (I3). Zones of the real world have tests of their own.
 */
import type { Instant, ZoneData, ZoneSource } from '@signalbox/engine';
import { WORLD_BEGAN_AT } from './process.ts';

const TWO_DAYS_MS = 2 * 86_400_000;
const HOUR_MS = 3_600_000;

export const MOVING = 'Sim/Moving';
export const WALL = 'Sim/Wall';
export type Edition = 1 | 2;

export class SimZones {
  /** All nodes of a cluster use the same data. */
  edition: Edition = 1;
  /** When clocks are set, by edition, and by how much. */
  readonly #changes: readonly { readonly atMs: number; readonly offsetMs: number }[];

  /** How much later times of the day are by the second edition; negative: earlier. */
  readonly laterMs: number;

  /** `afterMs`: how long after the beginning of the world. */
  constructor(changes: readonly { readonly afterMs: number; readonly byHours: number }[], laterMs: number) {
    this.laterMs = laterMs;
    this.#changes = changes.map(({ afterMs, byHours }) => ({
      atMs: WORLD_BEGAN_AT + Math.floor(afterMs),
      offsetMs: byHours * HOUR_MS,
    }));
  }

  readonly data: ZoneSource = (zone, from, until) => this.#read(this.edition, zone, from, until);

  /** As it was in an edition; null for a version that never was. */
  readonly dataOf = (version: string): ZoneSource | null => {
    const edition = version === versionOf(1) ? 1 : version === versionOf(2) ? 2 : null;
    return edition === null ? null : (zone, from, until) => this.#read(edition, zone, from, until);
  };

  readonly version = (): string => versionOf(this.edition);

  #read(edition: Edition, zone: string, from: Instant, until: Instant): ZoneData {
    const span = { fromMs: from - TWO_DAYS_MS, untilMs: until + TWO_DAYS_MS, initialOffsetMs: 0 };
    if (zone === 'UTC') return { zone, tzVersion: 'sim', ...span, transitions: [] };
    const tzVersion = versionOf(edition);
    const offsetMs = edition === 1 ? 0 : -this.laterMs;
    if (zone === WALL) return { zone, tzVersion, ...span, initialOffsetMs: offsetMs, transitions: [] };
    const change = this.#changes[edition - 1];
    if (zone !== MOVING || change === undefined)
      throw new RangeError(`there is no time zone ${zone} in this world, or no edition ${edition}`);
    // Before the span: all of it has the offset after the change.
    if (change.atMs <= span.fromMs)
      return { zone, tzVersion, ...span, initialOffsetMs: change.offsetMs, transitions: [] };
    return { zone, tzVersion, ...span, transitions: change.atMs < span.untilMs ? [change] : [] };
  }
}

const versionOf = (edition: Edition): string => `sim ${edition}`;

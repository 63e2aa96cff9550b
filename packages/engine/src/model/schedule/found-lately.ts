/**
 * Times that were found lately. When thousands of schedules are due at one instant, most of them share an expression and ask the
 * same few questions: when it fires after now, and when it did before. Speed only: the answer is that of the search, which depends on
 * nothing but what is compared here.
 */
import type { Cron } from './cron-type.ts';
import type { ClockChangePolicy, ZoneData } from './zone.ts';

/** A power of two. Few, so that they stay in the cache of the processor. */
const KEPT = 256;
const SECOND_MS = 1_000;

interface Found {
  readonly cron: Cron;
  readonly zone: ZoneData;
  readonly gap: ClockChangePolicy['gap'];
  readonly overlap: ClockChangePolicy['overlap'];
  readonly from: number;
  readonly at: number;
}

class FoundLately {
  private readonly found: (Found | undefined)[] = new Array<Found | undefined>(KEPT).fill(undefined);

  find(cron: Cron, zone: ZoneData, from: number, { gap, overlap }: ClockChangePolicy): number | null {
    const known = this.found[placeOf(from)];
    const isSame =
      known !== undefined &&
      known.from === from &&
      known.cron === cron &&
      known.zone === zone &&
      known.gap === gap &&
      known.overlap === overlap;
    return isSame ? known.at : null;
  }

  /** Returns what it keeps. The last question of its place counts. */
  keep(cron: Cron, zone: ZoneData, from: number, { gap, overlap }: ClockChangePolicy, at: number): number {
    this.found[placeOf(from)] = { cron, zone, gap, overlap, from, at };
    return at;
  }
}

/** The first time after an instant. */
export const nextLately = new FoundLately();
/** The last time before one. */
export const previousLately = new FoundLately();

function placeOf(from: number): number {
  // Questions about a window come for its instant and for the millisecond before.
  return (Math.floor(from / SECOND_MS) ^ (from & 1)) & (KEPT - 1);
}

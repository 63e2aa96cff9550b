/**
 * Slots that were lent for one decision and are kept a little longer for a gang: with several nodes the loans that it needs come from
 * several gateways, and not in one step.
 */
import { isEmpty } from '../../model/placement.ts';
import type { Offer } from '../worker/worker-table.ts';

/** Gateways are asked at one moment, and answer within this or not at all. Well below how long a loan lasts. */
const KEEP_MS = 200;

export class Gathering {
  /** Since when, in that order. */
  private readonly kept = new Map<Offer, number>();

  /** Whether the slots stay. They do so once for each loan. */
  keep(offer: Offer, mono: number): boolean {
    const since = this.kept.get(offer);
    if (since === undefined) this.kept.set(offer, mono);
    return mono - (since ?? mono) < KEEP_MS;
  }

  /** Those that are over, or were used or recalled meanwhile, are kept no more. */
  takeOver(mono: number): Offer[] {
    const over: Offer[] = [];
    for (const [offer, since] of this.kept) {
      const isUsed = offer.free === 0 && isEmpty(offer.room);
      if (!isUsed && mono - since < KEEP_MS) continue;
      this.kept.delete(offer);
      if (!isUsed) over.push(offer);
    }
    return over;
  }

  next(): number | null {
    for (const since of this.kept.values()) return since + KEEP_MS;
    return null;
  }
}

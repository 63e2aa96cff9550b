/** The offers of one group of workers, in turn. */
import type { Offer, Worker } from '../worker/worker-table.ts';

export class Offers {
  private readonly offers: Offer[] = [];
  private turn = 0;

  get size(): number {
    return this.offers.length;
  }

  add(offer: Offer): void {
    if (offer.place >= 0) return;
    offer.place = this.offers.length;
    this.offers.push(offer);
  }

  remove(offer: Offer): void {
    const { place } = offer;
    if (place < 0) return;
    const last = this.offers.pop()!;
    offer.place = -1;
    if (last === offer) return;
    this.offers[place] = last;
    last.place = place;
  }

  /** The offer whose turn it is. Those without a free slot are dropped when they come up. */
  peek(): Offer | undefined {
    while (this.offers.length > 0) {
      if (this.turn >= this.offers.length) this.turn = 0;
      const offer = this.offers[this.turn]!;
      if (offer.free > 0) return offer;
      this.remove(offer);
    }
    return undefined;
  }

  /** Any of another worker than this one that has a free slot, the next in turn first. */
  anyBut(own: Worker | undefined): Offer | null {
    for (let i = 0; i < this.offers.length; i++) {
      const offer = this.offers[(this.turn + i) % this.offers.length]!;
      if (offer.worker !== own && offer.free > 0) return offer;
    }
    return null;
  }

  /** All of them, the next in turn first; some may have no free slot. */
  *inTurn(): Iterable<Offer> {
    const { offers, turn } = this;
    for (let i = 0; i < offers.length; i++) yield offers[(turn + i) % offers.length]!;
  }

  passTurn(): void {
    this.turn += 1;
  }
}

/** What the worker has left of its resources: it checks each assignment against it, whatever the server believes (I24). */
import { type HeldBooking, readBooking, shownAmount, type WorkerOffers } from '@signalbox/protocol';

export class Room {
  readonly #total: WorkerOffers['resources'];
  readonly #taken = new Map<string, number>();
  #exclusiveCount = 0;

  constructor({ resources }: WorkerOffers) {
    this.#total = resources;
  }

  /** Why it can't begin here, or null. `activeCount`: attempts that the worker has. */
  reasonToRefuse(booking: HeldBooking | null, activeCount: number): string | null {
    if (this.#exclusiveCount > 0) return 'another attempt has the worker for itself';
    if (booking === null) return null;
    if (booking.exclusive && activeCount > 0) return 'it wants the worker for itself, and others run';
    for (const [name, amount] of Object.entries(booking.resources)) {
      const left = (this.#total[name] ?? 0) - (this.#taken.get(name) ?? 0);
      if (amount > left) return `it asks for ${shownAmount(name, amount)}, and ${shownAmount(name, left)} is left`;
    }
    return null;
  }

  take(booking: HeldBooking): void {
    this.#add(booking, 1);
  }

  release(booking: HeldBooking): void {
    this.#add(booking, -1);
  }

  #add({ resources, exclusive }: HeldBooking, by: 1 | -1): void {
    for (const [name, amount] of Object.entries(resources))
      this.#taken.set(name, (this.#taken.get(name) ?? 0) + by * amount);
    if (exclusive) this.#exclusiveCount += by;
  }
}

/** Null for an attempt that takes nothing but a slot, or says what nobody understands. */
export function bookingIn(text: string): HeldBooking | null {
  return text === '' ? null : readBooking(text);
}

/** A bounded number of places, of which one network may take a part only: a stranger must not keep others out (I68). */
export class Places {
  readonly #most: { readonly all: number; readonly ofNetwork: number };
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(most: { readonly all: number; readonly ofNetwork: number }) {
    this.#most = most;
  }

  /** Null when there is none; otherwise what gives it back, once. */
  take(network: string): (() => void) | null {
    const taken = this.#taken.get(network) ?? 0;
    if (this.#all >= this.#most.all || taken >= this.#most.ofNetwork) return null;
    this.#taken.set(network, taken + 1);
    this.#all += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#all -= 1;
      const left = this.#taken.get(network)! - 1;
      if (left === 0) this.#taken.delete(network);
      else this.#taken.set(network, left);
    };
  }
}

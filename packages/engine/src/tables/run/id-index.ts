/** Maps run ids to slots: open addressing over one array of integers, a tenth of the memory of a Map. */
import type { RunId } from '../../model/ids.ts';

const EMPTY = -1;

export class IdIndex {
  private readonly idOf: (slot: number) => number;
  private table = new Int32Array(64).fill(EMPTY);
  private count = 0;

  constructor(idOf: (slot: number) => number) {
    this.idOf = idOf;
  }

  /** The slot, or -1. */
  find(id: RunId): number {
    const mask = this.table.length - 1;
    for (let at = hash(id) & mask; ; at = (at + 1) & mask) {
      const slot = this.table[at]!;
      if (slot === EMPTY || this.idOf(slot) === id) return slot;
    }
  }

  add(id: RunId, slot: number): void {
    if ((this.count + 1) * 2 > this.table.length) this.resize(this.table.length * 2);
    this.place(id, slot);
    this.count += 1;
  }

  /** Must be called while `idOf(slot)` still answers with this id. */
  remove(id: RunId): void {
    const mask = this.table.length - 1;
    let hole = hash(id) & mask;
    while (this.idOf(this.table[hole]!) !== id) hole = (hole + 1) & mask;
    // Entries behind the hole that belong before it move up, so that no tombstones are needed.
    for (let at = (hole + 1) & mask; this.table[at] !== EMPTY; at = (at + 1) & mask) {
      const home = hash(this.idOf(this.table[at]!)) & mask;
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        this.table[hole] = this.table[at]!;
        hole = at;
      }
    }
    this.table[hole] = EMPTY;
    this.count -= 1;
  }

  private place(id: number, slot: number): void {
    const mask = this.table.length - 1;
    let at = hash(id) & mask;
    while (this.table[at] !== EMPTY) at = (at + 1) & mask;
    this.table[at] = slot;
  }

  private resize(length: number): void {
    const old = this.table;
    this.table = new Int32Array(length).fill(EMPTY);
    for (const slot of old) if (slot !== EMPTY) this.place(this.idOf(slot), slot);
  }
}

function hash(id: number): number {
  // Bit operations take the lower 32 bits of any whole number; a remainder of large numbers takes ten times as long.
  const low = id | 0;
  const high = (id / 4_294_967_296) | 0;
  let h = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  h ^= h >>> 15;
  return Math.imul(h, 0xc2b2ae35) >>> 1;
}

/** Maps run ids to rows: open addressing over one array of integers, a tenth of the memory of a Map. */
import type { RunId, RunRow } from '../../model/ids.ts';

const EMPTY = -1 as RunRow;

type Rows = Int32Array & { [at: number]: RunRow };

export class IdIndex {
  private readonly idOf: (run: RunRow) => number;
  private table = emptyTable(64);
  private count = 0;

  constructor(idOf: (run: RunRow) => number) {
    this.idOf = idOf;
  }

  /** The row, or -1. */
  find(id: RunId): RunRow {
    const mask = this.table.length - 1;
    for (let at = hash(id) & mask; ; at = (at + 1) & mask) {
      const run = this.table[at]!;
      if (run === EMPTY || this.idOf(run) === id) return run;
    }
  }

  add(id: RunId, run: RunRow): void {
    if ((this.count + 1) * 2 > this.table.length) this.resize(this.table.length * 2);
    this.place(id, run);
    this.count += 1;
  }

  /** Must be called while `idOf(run)` still answers with this id. */
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

  private place(id: number, run: RunRow): void {
    const mask = this.table.length - 1;
    let at = hash(id) & mask;
    while (this.table[at] !== EMPTY) at = (at + 1) & mask;
    this.table[at] = run;
  }

  private resize(length: number): void {
    const old = this.table;
    this.table = emptyTable(length);
    for (const run of old) if (run !== EMPTY) this.place(this.idOf(run as RunRow), run as RunRow);
  }
}

function emptyTable(length: number): Rows {
  return new Int32Array(length).fill(EMPTY) as Rows;
}

function hash(id: number): number {
  // Bit operations take the lower 32 bits of any whole number; a remainder of large numbers takes ten times as long.
  const low = id | 0;
  const high = (id / 4_294_967_296) | 0;
  let h = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  h ^= h >>> 15;
  return Math.imul(h, 0xc2b2ae35) >>> 1;
}

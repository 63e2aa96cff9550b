/**
 * Processor time of child processes that have ended. Node does not tell it for one of them, but the system counts what all children
 * of this process used that were waited for (with their own children that they waited for). The count grows as each of them ends, so
 * what it has grown by is that child's. Of several that end in one turn of the event loop it is shared out by how long they ran.
 * In steps of 10 ms. Without /proc nothing is known.
 */
import { readFileSync } from 'node:fs';

/** Of a tick of /proc: the same on every Linux that Node runs on. */
const TICK_MICROS = 10_000;

interface Ended {
  readonly aliveMs: number;
  readonly tell: (cpuMicros: number | null) => void;
}

export class ReapedCpu {
  readonly #read: () => number | null;
  #known: number | null = null;
  #ended: Ended[] = [];

  /** `read` counts ticks of all children that have ended. */
  constructor(read: () => number | null = ticksOfChildren) {
    this.#read = read;
  }

  /** Before a child starts: what others used until then is not its own. */
  began(): void {
    this.#known ??= this.#read();
  }

  /** To be called for each child when it ends. Null where nothing is known. */
  exited(aliveMs: number): Promise<number | null> {
    return new Promise((tell) => {
      this.#ended.push({ aliveMs, tell });
      if (this.#ended.length === 1) setImmediate(() => this.#share());
    });
  }

  #share(): void {
    const ended = this.#ended;
    this.#ended = [];
    const [before, now] = [this.#known, this.#read()];
    this.#known = now;
    const all = ended.reduce((sum, { aliveMs }) => sum + aliveMs, 0);
    for (const { aliveMs, tell } of ended) {
      const share = all === 0 ? 1 / ended.length : aliveMs / all;
      tell(before === null || now === null ? null : Math.round(Math.max(0, now - before) * share * TICK_MICROS));
    }
  }
}

function ticksOfChildren(): number | null {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The name of the program comes in brackets, and may hold any sign.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[13]) + Number(fields[14]);
    return Number.isFinite(ticks) ? ticks : null;
  } catch {
    return null;
  }
}

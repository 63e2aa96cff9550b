/**
 * Enforces the memory limits of attempts. A few times a second it reads /proc, adds up the private memory of the processes
 * of each group (shared libraries and mapped files do not count), and kills a group that exceeds its limit. One reading
 * serves all groups, and there is none while no limit is set. Without /proc nothing is watched.
 */
import { readdir, readFile } from 'node:fs/promises';

const LOOK_MS = 100;
const PAGE_BYTES = 4_096;
/** Read at a time. */
const SLICE = 64;

export interface Watched {
  /** The process group leader of the watched processes. */
  readonly group: number;
  readonly limitBytes: number;
  /** Called once, with what it had. */
  readonly onOver: (bytes: number) => void;
}

export class MemoryWatch {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  /** The answer ends it. */
  watch(watched: Watched): () => void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => void this.runOnce(), LOOK_MS).unref();
    return () => this.#forget(watched);
  }

  async runOnce(): Promise<void> {
    if (this.#isLooking || this.#watched.size === 0) return;
    this.#isLooking = true;
    try {
      const bytes = await bytesByGroup(new Set([...this.#watched].map(({ group }) => group)));
      for (const watched of [...this.#watched]) {
        const has = bytes.get(watched.group) ?? 0;
        if (has <= watched.limitBytes) continue;
        this.#forget(watched);
        watched.onOver(has);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

async function bytesByGroup(groups: ReadonlySet<number>): Promise<ReadonlyMap<number, number>> {
  const sums = new Map<number, number>();
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (let from = 0; from < pids.length; from += SLICE) {
    await Promise.all(
      pids.slice(from, from + SLICE).map(async (pid) => {
        const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
        // The name of the program comes in brackets, and may hold any sign.
        const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        if (!groups.has(Number(group))) return;
        const memory = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => '0 0 0');
        const [, resident = 0, shared = 0] = memory.split(' ').map(Number);
        sums.set(Number(group), (sums.get(Number(group)) ?? 0) + Math.max(0, resident - shared) * PAGE_BYTES);
      }),
    );
  }
  return sums;
}

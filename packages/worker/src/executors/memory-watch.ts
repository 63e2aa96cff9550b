/**
 * Watches the memory of attempts. It reads /proc, adds up the private memory of the processes of each group (shared libraries and
 * mapped files do not count), remembers the most that each had, and kills a group that exceeds its limit. One reading serves all
 * groups: a few times a second while a limit is set, and else about once a second. Without /proc nothing is watched.
 */
import { readdir, readFile } from 'node:fs/promises';

const LOOK_MS = 100;
/** Between two readings that serve no limit: each reads of all processes of the machine. */
const REST_MS = 1_000;
/** The first one comes sooner: many processes do not run for long. */
const FIRST_MS = 300;
const PAGE_BYTES = 4_096;
/** Read at a time. */
const SLICE = 64;

export interface Watched {
  /** The process group leader of the watched processes. */
  readonly group: number;
  /** Infinity: it is only measured. */
  readonly limitBytes: number;
  /** Called once, with what it had. */
  readonly onOver: (bytes: number) => void;
}

export interface Watching {
  /** The most that it had at a look; 0 before the first. */
  readonly peakBytes: () => number;
  readonly end: () => void;
}

export class MemoryWatch {
  readonly #watched = new Map<Watched, { peakBytes: number; lookAt: number }>();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  watch(watched: Watched): Watching {
    const seen = { peakBytes: 0, lookAt: performance.now() + FIRST_MS };
    this.#watched.set(watched, seen);
    this.#timer ??= setInterval(() => {
      if (this.#isDue(performance.now())) void this.runOnce();
    }, LOOK_MS).unref();
    return { peakBytes: () => seen.peakBytes, end: () => this.#forget(watched) };
  }

  #isDue(now: number): boolean {
    for (const [{ limitBytes }, { lookAt }] of this.#watched) {
      if (limitBytes !== Number.POSITIVE_INFINITY) return true;
      if (now >= lookAt && now - this.#lookedAt >= FIRST_MS) return true;
    }
    return false;
  }

  async runOnce(): Promise<void> {
    if (this.#isLooking || this.#watched.size === 0) return;
    this.#isLooking = true;
    this.#lookedAt = performance.now();
    try {
      const bytes = await bytesByGroup(new Set([...this.#watched.keys()].map(({ group }) => group)));
      for (const [watched, seen] of [...this.#watched]) {
        const has = bytes.get(watched.group) ?? 0;
        seen.peakBytes = Math.max(seen.peakBytes, has);
        seen.lookAt = this.#lookedAt + REST_MS;
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

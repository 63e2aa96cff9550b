/**
 * Which lines of recently written attempts are stored, so a line that arrives twice is stored once. Forgetting here costs
 * space, not correctness: a reader takes each line number once anyway.
 */
import { keyOf, type LogAttempt, type LogLines } from './frame.ts';

const KEPT_ATTEMPTS = 20_000;
/** Lines of one attempt come in order but for a change of connection: more pieces than this are not worth keeping apart. */
const MOST_RANGES = 64;

export class StoredRanges {
  /** Begins and ends by turns, ascending; neighbours that touch are one. */
  readonly #ranges = new Map<string, number[]>();

  /** The parts that are not stored yet, which from now on count as stored. */
  take({ attempt, firstLine, lines }: LogLines): LogLines[] {
    const key = keyOf(attempt);
    const ranges = this.#ranges.get(key) ?? [];
    this.#ranges.delete(key);
    this.#ranges.set(key, ranges);
    const [oldest] = this.#ranges.keys();
    if (this.#ranges.size > KEPT_ATTEMPTS && oldest !== undefined) this.#ranges.delete(oldest);

    const fresh: LogLines[] = [];
    const end = firstLine + lines.length;
    let from = firstLine;
    for (let i = 0; i < ranges.length && from < end; i += 2) {
      const [begins, ends] = [ranges[i] ?? 0, ranges[i + 1] ?? 0];
      if (ends <= from) continue;
      if (begins >= end) break;
      if (begins > from) fresh.push(part(from, begins));
      from = ends;
    }
    if (from < end) fresh.push(part(from, end));
    insert(ranges, firstLine, end);
    if (ranges.length > 2 * MOST_RANGES) this.#ranges.delete(key);
    return fresh;

    function part(begins: number, ends: number): LogLines {
      return { attempt, firstLine: begins, lines: lines.slice(begins - firstLine, ends - firstLine) };
    }
  }

  /** What was taken could not be written. */
  forget(attempt: LogAttempt): void {
    this.#ranges.delete(keyOf(attempt));
  }
}

function insert(ranges: number[], begins: number, ends: number): void {
  if (begins >= ends) return;
  let i = 0;
  while (i < ranges.length && (ranges[i + 1] ?? 0) < begins) i += 2;
  let j = i;
  let [low, high] = [begins, ends];
  while (j < ranges.length && (ranges[j] ?? 0) <= ends) {
    low = Math.min(low, ranges[j] ?? low);
    high = Math.max(high, ranges[j + 1] ?? high);
    j += 2;
  }
  ranges.splice(i, j - i, low, high);
}

/**
 * Looks through a log that grows, some lines at a time: a line is looked at once, and no look is so long that the page stands
 * still. A million lines take a second or so, in which everything else goes on.
 */
import type { Line, Lines } from './lines.ts';

/** Something that is done line by line. */
export interface Walk {
  /** Goes on for at most so many lines, and for less than a frame. True when all that are there were looked at. */
  goOn(lines: Lines, most?: number): boolean;
  isDone(lines: Lines): boolean;
}

const LINES_AT_ONCE = 20_000;
const LONGEST_MS = 8;
/** How often the clock is looked at. */
const LINES_PER_LOOK = 200;

/** Calls `look` for the lines from `next` on; returns where it stopped. */
export function walk(
  lines: Lines,
  next: number,
  most = LINES_AT_ONCE,
  look: (line: Line, index: number) => void,
): number {
  const end = Math.min(lines.length, next + most);
  const until = performance.now() + LONGEST_MS;
  let at = next;
  for (; at < end; at++) {
    if (at % LINES_PER_LOOK === 0 && performance.now() > until) break;
    look(lines.at(at) as Line, at);
  }
  return at;
}

export class Scan implements Walk {
  readonly #matches: (line: Line) => boolean;
  #next = 0;
  count = 0;

  constructor(matches: (line: Line) => boolean) {
    this.#matches = matches;
  }

  goOn(lines: Lines, most?: number): boolean {
    this.#next = walk(lines, this.#next, most, (line) => {
      if (!this.#matches(line)) return;
      this.count += 1;
    });
    return this.isDone(lines);
  }

  isDone(lines: Lines): boolean {
    return this.#next >= lines.length;
  }
}

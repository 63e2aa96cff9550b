/**
 * Looks through a log that grows, some lines at a time: a line is looked at once, and no look is so long that the page stands
 * still. A million lines take a second or so, in which everything else goes on.
 */
export class Scan<Line> {
  readonly #matches: (line: Line) => boolean;
  #next = 0;
  count = 0;
  first: number | null = null;

  constructor(matches: (line: Line) => boolean) {
    this.#matches = matches;
  }

  /** Goes on for at most so many lines, and for less than a frame. True when all that are there were looked at. */
  goOn(lines: readonly Line[], most = LINES_AT_ONCE): boolean {
    const end = Math.min(lines.length, this.#next + most);
    const until = performance.now() + LONGEST_MS;
    for (; this.#next < end; this.#next++) {
      if (this.#next % LINES_PER_LOOK === 0 && performance.now() > until) break;
      if (!this.#matches(lines[this.#next] as Line)) continue;
      this.count += 1;
      this.first ??= this.#next;
    }
    return this.#next >= lines.length;
  }
}

const LINES_AT_ONCE = 20_000;
const LONGEST_MS = 8;
/** How often the clock is looked at. */
const LINES_PER_LOOK = 200;

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

  /** Goes on for at most so many lines. True when all that are there were looked at. */
  goOn(lines: readonly Line[], most = LINES_AT_ONCE): boolean {
    const end = Math.min(lines.length, this.#next + most);
    for (; this.#next < end; this.#next++) {
      if (!this.#matches(lines[this.#next] as Line)) continue;
      this.count += 1;
      this.first ??= this.#next;
    }
    return this.#next >= lines.length;
  }
}

const LINES_AT_ONCE = 20_000;

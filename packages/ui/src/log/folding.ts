/**
 * Hides lines that belong to the one before them: stack traces, and what is printed indented below a heading. A line is looked at once,
 * when it arrives.
 */
import type { Line } from './lines.ts';

const CONTINUES = /^(?:\s+\S|Caused by:|\.\.\. \d+ more)/;
/** Fewer are not worth a click. */
const FEWEST = 3;

const belongs = (line: Line, head: Line | undefined): boolean =>
  head !== undefined &&
  line.stream !== 'log' &&
  line.stream === head.stream &&
  line.task === head.task &&
  CONTINUES.test(line.text);

export class Folding {
  /** The places of lines that are shown. */
  readonly shown: number[] = [];
  /** By the place of a line: how many lines behind it are hidden, or would be if it was not open. */
  readonly sizes = new Map<number, number>();
  readonly #open: ReadonlySet<number>;
  #next = 0;
  #head = -1;

  constructor(open: ReadonlySet<number>) {
    this.#open = open;
  }

  goOn(lines: readonly Line[]): void {
    for (; this.#next < lines.length; this.#next++) {
      const at = this.#next;
      if (!belongs(lines[at] as Line, lines[this.#head])) {
        this.#head = at;
        this.shown.push(at);
        continue;
      }
      const count = at - this.#head;
      if (count >= FEWEST) this.sizes.set(this.#head, count);
      const isHidden = count >= FEWEST && !this.#open.has(this.#head);
      if (!isHidden) this.shown.push(at);
      // With the third one, the first two go too.
      else if (count === FEWEST) this.shown.length -= FEWEST - 1;
    }
  }

  /** The row that shows a line, or the line that hides it. */
  rowOf(place: number): number {
    let [low, high] = [0, this.shown.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.shown[middle] as number) <= place) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }
}

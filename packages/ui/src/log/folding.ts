/**
 * Hides lines that belong to the one before them: stack traces, and what is printed indented below a heading. A line is looked at once,
 * when it arrives.
 */
import { type Line, type Lines, lastNotAfter } from './lines.ts';
import { type Walk, walk } from './scan.ts';

const CONTINUES = /^(?:\s+\S|Caused by:|\.\.\. \d+ more)/;
/** Fewer are not worth a click. */
const FEWEST = 3;

const belongs = (line: Line, head: Line | null): boolean =>
  head !== null &&
  line.stream !== 'log' &&
  line.stream === head.stream &&
  line.task === head.task &&
  CONTINUES.test(line.text);

export class Folding implements Walk {
  /** The places of lines that are shown. */
  readonly shown: number[] = [];
  /** By the place of a line: how many lines behind it are hidden, or would be if it was not open. */
  readonly sizes = new Map<number, number>();
  readonly #open: ReadonlySet<number>;
  #next = 0;
  #head = -1;
  #headLine: Line | null = null;

  constructor(open: ReadonlySet<number>) {
    this.#open = open;
  }

  goOn(lines: Lines, most?: number): boolean {
    this.#next = walk(lines, this.#next, most, (line, at) => this.#add(line, at));
    return this.isDone(lines);
  }

  isDone(lines: Lines): boolean {
    return this.#next >= lines.length;
  }

  #add(line: Line, at: number): void {
    if (!belongs(line, this.#headLine)) {
      this.#head = at;
      this.#headLine = line;
      this.shown.push(at);
      return;
    }
    const count = at - this.#head;
    if (count >= FEWEST) this.sizes.set(this.#head, count);
    const isHidden = count >= FEWEST && !this.#open.has(this.#head);
    if (!isHidden) this.shown.push(at);
    // With the third one, the first two go too.
    else if (count === FEWEST) this.shown.length -= FEWEST - 1;
  }

  /** The row that shows a line, or the line that hides it. */
  rowOf(place: number): number {
    return lastNotAfter(this.shown, place);
  }
}

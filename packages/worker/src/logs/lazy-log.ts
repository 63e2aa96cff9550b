/** The log of an attempt that most likely says nothing: it is opened with its first line. */
import type { LogStream } from '@signalbox/protocol/grpc';
import type { Attempt } from '../attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { LogBook } from './log-book.ts';

/** What executors do with a log. */
export type AttemptLines = Pick<AttemptLog, 'line' | 'bytes' | 'endStream' | 'isBehind'>;

export class LazyLog implements AttemptLines {
  readonly #book: LogBook;
  readonly #attempt: Attempt;

  constructor(book: LogBook, attempt: Attempt) {
    this.#book = book;
    this.#attempt = attempt;
  }

  get isBehind(): boolean {
    return this.#attempt.log?.isBehind ?? false;
  }

  line(stream: LogStream, text: string): void {
    this.#open()?.line(stream, text);
  }

  bytes(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#open()?.bytes(stream, chunk);
  }

  endStream(stream: 'stdout' | 'stderr'): void {
    this.#attempt.log?.endStream(stream);
  }

  /** One whose end is being told gets no log any more: nobody would wait for it. */
  #open(): AttemptLog | null {
    return this.#attempt.isEnding ? this.#attempt.log : this.#book.of(this.#attempt);
  }
}

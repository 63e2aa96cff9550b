/** The open server-sent event streams, with one limit for all and one per caller. */
import { SignalboxError } from '@signalbox/protocol';

const MOST_STREAMS = 1_000;
/** Limit per caller, so others find a place too. */
const MOST_OF_CALLER = 100;

/** The streams that are open, for the end of the server and for its metrics. */
export class OpenStreams {
  readonly #open = new Set<AbortController>();
  readonly #ofCallers = new Map<string, number>();

  get size(): number {
    return this.#open.size;
  }

  /** It has its place until it is aborted. */
  begin(caller: string): AbortController {
    if (this.#open.size >= MOST_STREAMS) throw new SignalboxError('OVERLOADED', { retryAfterMs: 5_000 });
    const ofCaller = this.#ofCallers.get(caller) ?? 0;
    if (ofCaller >= MOST_OF_CALLER) {
      throw new SignalboxError('RATE_LIMITED', {
        what: `open streams (at most ${MOST_OF_CALLER})`,
        retryAfterMs: 5_000,
      });
    }
    const stream = new AbortController();
    this.#open.add(stream);
    this.#ofCallers.set(caller, ofCaller + 1);
    stream.signal.addEventListener('abort', () => this.#end(stream, caller), { once: true });
    return stream;
  }

  #end(stream: AbortController, caller: string): void {
    this.#open.delete(stream);
    const left = (this.#ofCallers.get(caller) ?? 1) - 1;
    if (left === 0) this.#ofCallers.delete(caller);
    else this.#ofCallers.set(caller, left);
  }

  endAll(): void {
    for (const stream of this.#open) stream.abort();
  }
}

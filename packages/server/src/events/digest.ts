/** What changed in a short time, for readers that only need to know what to read again: names without details. */
import type { EventDigest } from '@signalbox/protocol';
import type { FeedEvent } from './feed.ts';

const MOST_RUNS = 200;
const MOST_DAGS = 100;

export class DigestBuilder {
  #count = 0;
  #more = false;
  readonly #dags = new Set<string>();
  readonly #runs = new Set<string>();
  readonly #kinds = new Set<string>();

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add({ view }: Pick<FeedEvent, 'view'>): void {
    this.#count += 1;
    this.#kinds.add(view.kind);
    // A commit that could not be read may have been about anything.
    if (view.dag === null) this.#more = true;
    this.#name(this.#dags, view.dag, MOST_DAGS);
    this.#name(this.#runs, view.run, MOST_RUNS);
  }

  build(): EventDigest {
    const [dags, runs, kinds] = [[...this.#dags], [...this.#runs], [...this.#kinds]];
    return { count: this.#count, dags, runs, kinds, more: this.#more };
  }

  #name(names: Set<string>, name: string | null, most: number): void {
    if (name === null || names.has(name)) return;
    if (names.size >= most) this.#more = true;
    else names.add(name);
  }
}

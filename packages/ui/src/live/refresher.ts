/**
 * Reads views again when the server says that they have changed. A view is read one request at a time, and the slower its last
 * read was, the longer it rests: a large run under load costs the server a fifth of the time, not all of it.
 */
import type { Query, QueryClient } from '@tanstack/react-query';
import type { Concern, Digest } from './digest.ts';

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { readonly concern?: Concern };
  }
}

const SHORTEST_REST_MS = 300;
const REST_FACTOR = 4;

export class Refresher {
  readonly #client: QueryClient;
  readonly #now: () => number;
  readonly #dirty = new Set<string>();
  readonly #restUntil = new Map<string, number>();

  constructor(client: QueryClient, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#now = now;
  }

  note(digest: Digest): void {
    for (const query of this.#client.getQueryCache().getAll()) {
      if (query.meta?.concern?.(digest) === true) this.#dirty.add(query.queryHash);
    }
    this.tick();
  }

  /** Reads what is due. To be called a few times a second while something is dirty. */
  tick(): void {
    for (const hash of this.#dirty) {
      const query = this.#client.getQueryCache().get(hash);
      if (query === undefined) this.#dirty.delete(hash);
      else this.#readIfDue(query);
    }
  }

  get isIdle(): boolean {
    return this.#dirty.size === 0;
  }

  #readIfDue(query: Query): void {
    const { queryHash } = query;
    if (query.getObserversCount() === 0) {
      // Nobody looks: it is read when somebody does.
      query.invalidate();
      this.#dirty.delete(queryHash);
      return;
    }
    const startedAt = this.#now();
    if (query.state.fetchStatus !== 'idle' || startedAt < (this.#restUntil.get(queryHash) ?? 0)) return;
    this.#dirty.delete(queryHash);
    const rest = () => {
      const tookMs = this.#now() - startedAt;
      this.#restUntil.set(queryHash, this.#now() + Math.max(SHORTEST_REST_MS, REST_FACTOR * tookMs));
    };
    query.fetch().then(rest, rest);
  }
}

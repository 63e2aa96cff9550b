/** Bundles for workers. A fleet that starts asks for the same bundle at once, and the database is queried once. */
import type { TenantId } from '@signalbox/engine';
import type { Queries, StoredBundle } from '@signalbox/store';

const KEPT_BYTES = 64 * 1024 * 1024;

export class BundleCache {
  readonly #queries: Pick<Queries, 'getBundle'>;
  /** What a hash names never changes, so nothing here grows old. In order of the last use. */
  readonly #known = new Map<string, StoredBundle>();
  readonly #asking = new Map<string, Promise<StoredBundle | null>>();
  #bytes = 0;

  constructor(queries: Pick<Queries, 'getBundle'>) {
    this.#queries = queries;
  }

  async get(tenantId: TenantId, hash: string): Promise<StoredBundle | null> {
    const key = `${tenantId}/${hash}`;
    const known = this.#known.get(key);
    if (known !== undefined) {
      this.#known.delete(key);
      this.#known.set(key, known);
      return known;
    }
    const asking =
      this.#asking.get(key) ?? this.#queries.getBundle(tenantId, hash).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    const found = await asking;
    // Its source map may come after it: until then it is not kept.
    if (found !== null && found.sourceMap !== null) this.#keep(key, found);
    return found;
  }

  #keep(key: string, bundle: StoredBundle): void {
    if (this.#known.has(key)) return;
    this.#known.set(key, bundle);
    this.#bytes += sizeOf(bundle);
    for (const [oldest, dropped] of this.#known) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#known.delete(oldest);
      this.#bytes -= sizeOf(dropped);
    }
  }
}

const sizeOf = ({ code, sourceMap }: StoredBundle): number => code.length + (sourceMap?.length ?? 0);

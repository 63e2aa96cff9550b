/** The bundles that this worker runs. Each is fetched once, even when several attempts want it at the same time. */
import { PermanentError } from '@signalbox/sdk';
import type { DataAccess, DataPlace } from '../data-address.ts';
import { type BundleFile, BundleFolder } from './bundle-folder.ts';
import { fetchBundle } from './fetch-bundle.ts';

const HASH = /^[0-9a-f]{64}$/;
/** Remembered as checked. */
const MAX_KNOWN = 1_000;
const TOUCH_MS = 10 * 60_000;

export class Bundles {
  readonly #folder: BundleFolder;
  readonly #access: DataAccess;
  readonly #known = new Map<string, { readonly file: BundleFile; touchedAt: number }>();
  readonly #coming = new Map<string, Promise<BundleFile>>();
  place: DataPlace = 'unknown';

  constructor(folder: string, access: DataAccess) {
    this.#folder = new BundleFolder(folder);
    this.#access = access;
  }

  /** One that is known to be there; at once. */
  peek(hash: string): BundleFile | null {
    const known = this.#known.get(hash);
    if (known === undefined) return null;
    const now = performance.now();
    if (now - known.touchedAt > TOUCH_MS) {
      known.touchedAt = now;
      void this.#folder.touch(hash);
    }
    return known.file;
  }

  /** It could not be loaded: perhaps somebody has removed it. */
  forget(hash: string): void {
    this.#known.delete(hash);
  }

  /** Throws a `PermanentError` when there is no such bundle; other errors may be gone with the next attempt. */
  async get(hash: string): Promise<BundleFile> {
    // It is part of a path.
    if (!HASH.test(hash))
      throw new PermanentError('The task is a function, but its dag has no bundle. Deploy the dag again.');
    const known = this.peek(hash);
    if (known !== null) return known;
    let coming = this.#coming.get(hash);
    if (coming === undefined) {
      coming = this.#bring(hash).finally(() => this.#coming.delete(hash));
      this.#coming.set(hash, coming);
    }
    return coming;
  }

  async #bring(hash: string): Promise<BundleFile> {
    let file = await this.#folder.find(hash);
    if (file === null) {
      const { code, sourceMap } = await fetchBundle(hash, this.place, this.#access);
      file = await this.#folder.add(hash, code, sourceMap);
    }
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(hash, { file, touchedAt: performance.now() });
    return file;
  }
}

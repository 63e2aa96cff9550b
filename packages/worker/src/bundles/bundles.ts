/**
 * The bundles that this worker runs. Each is fetched once, even when several attempts want it at the same time. A worker that serves
 * several tenants keeps the bundles of each in a folder of its own: that another tenant has the same code is nobody's business (I65).
 */
import { join } from 'node:path';
import { PermanentError } from '@signalbox/sdk';
import type { DataAccess, DataPlace } from '../data-address.ts';
import { type BundleFile, BundleFolder } from './bundle-folder.ts';
import { fetchBundle } from './fetch-bundle.ts';

const HASH = /^[0-9a-f]{64}$/;
/** Remembered as checked. */
const MAX_KNOWN = 1_000;
const TOUCH_MS = 10 * 60_000;

export class Bundles {
  readonly #root: string;
  readonly #folders = new Map<string, BundleFolder>();
  readonly #access: DataAccess;
  readonly #known = new Map<string, { readonly file: BundleFile; touchedAt: number }>();
  readonly #coming = new Map<string, Promise<BundleFile>>();
  place: DataPlace = 'unknown';
  /** The worker serves several tenants. */
  isShared = false;

  constructor(folder: string, access: DataAccess) {
    this.#root = folder;
    this.#access = access;
  }

  /** One that is known to be there; at once. */
  peek(tenant: string, hash: string): BundleFile | null {
    const known = this.#known.get(`${tenant}/${hash}`);
    if (known === undefined) return null;
    const now = performance.now();
    if (now - known.touchedAt > TOUCH_MS) {
      known.touchedAt = now;
      void this.#folderOf(tenant).touch(hash);
    }
    return known.file;
  }

  /** It could not be loaded: perhaps somebody has removed it. */
  forget(tenant: string, hash: string): void {
    this.#known.delete(`${tenant}/${hash}`);
  }

  /** Throws a `PermanentError` when there is no such bundle; other errors may be gone with the next attempt. */
  async get(tenant: string, hash: string): Promise<BundleFile> {
    // It is part of a path.
    if (!HASH.test(hash))
      throw new PermanentError('The task is a function, but its dag has no bundle. Deploy the dag again.');
    const known = this.peek(tenant, hash);
    if (known !== null) return known;
    const key = `${tenant}/${hash}`;
    let coming = this.#coming.get(key);
    if (coming === undefined) {
      coming = this.#bring(tenant, hash).finally(() => this.#coming.delete(key));
      this.#coming.set(key, coming);
    }
    return coming;
  }

  async #bring(tenant: string, hash: string): Promise<BundleFile> {
    const folder = this.#folderOf(tenant);
    let file = await folder.find(hash);
    if (file === null) {
      const name = { tenant: this.isShared ? tenant : null, hash };
      const { code, sourceMap } = await fetchBundle(name, this.place, this.#access);
      file = await folder.add(hash, code, sourceMap);
    }
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(`${tenant}/${hash}`, { file, touchedAt: performance.now() });
    return file;
  }

  #folderOf(tenant: string): BundleFolder {
    // A name may hold what a path must not.
    const path = this.isShared ? join(this.#root, `tenant-${encodeURIComponent(tenant)}`) : this.#root;
    let folder = this.#folders.get(path);
    if (folder === undefined) {
      folder = new BundleFolder(path);
      this.#folders.set(path, folder);
    }
    return folder;
  }
}

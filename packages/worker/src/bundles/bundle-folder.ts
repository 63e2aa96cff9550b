/**
 * Bundles on disk, by hash: `<hash>/bundle.mjs` and its source map. A folder is written under another name and then renamed,
 * so an existing folder is complete. Each worker checks it once before using it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface BundleFile {
  readonly hash: string;
  readonly path: string;
  readonly hasSourceMap: boolean;
}

const FILE = 'bundle.mjs';
const MAP_LINE = `\n//# sourceMappingURL=${FILE}.map\n`;
/** The least recently used beyond it are removed when one is added. */
const MAX_BUNDLES = 200;
/** One that was used so lately is left alone: another worker may be about to load it. */
const YOUNG_MS = 60 * 60_000;

export class BundleFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null when it is not there, or is not what its name says. */
  async find(hash: string): Promise<BundleFile | null> {
    // Before it is read: who may write to the folder could change the file between the check of its hash and its use.
    await this.#prepare();
    const path = join(this.#folder, hash, FILE);
    const stored = await readFile(path).catch(() => null);
    if (stored === null) return null;
    const hasSourceMap = stored.subarray(-MAP_LINE.length).equals(Buffer.from(MAP_LINE));
    const code = hasSourceMap ? stored.subarray(0, -MAP_LINE.length) : stored;
    if (hashOf(code) !== hash) {
      await rm(join(this.#folder, hash), { recursive: true, force: true });
      return null;
    }
    await this.touch(hash);
    return { hash, path, hasSourceMap };
  }

  async add(hash: string, code: Buffer, sourceMap: Buffer): Promise<BundleFile> {
    await this.#prepare();
    const aside = join(this.#folder, `.${hash}-${randomUUID()}`);
    const hasSourceMap = sourceMap.length > 0;
    await mkdir(aside, { mode: 0o700 });
    try {
      if (hasSourceMap) await writeFile(join(aside, `${FILE}.map`), sourceMap, { mode: 0o600 });
      const text = hasSourceMap ? Buffer.concat([code, Buffer.from(MAP_LINE)]) : code;
      await writeFile(join(aside, FILE), text, { mode: 0o600 });
      await rename(aside, join(this.#folder, hash)).catch(async (error: unknown) => {
        // Another worker with the same folder was quicker.
        if ((await this.find(hash)) === null) throw error;
      });
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
    await this.#forget();
    return { hash, path: join(this.#folder, hash, FILE), hasSourceMap };
  }

  async touch(hash: string): Promise<void> {
    const now = new Date();
    await utimes(join(this.#folder, hash), now, now).catch(() => {});
  }

  /** What lies in it is run: nobody else may be able to write to it. */
  async #prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = await stat(this.#folder);
    const own = process.getuid?.() ?? uid;
    if (uid !== own)
      throw new Error(`The cache folder ${this.#folder} belongs to another user. Choose another folder.`);
    if ((mode & 0o077) !== 0) await chmod(this.#folder, 0o700);
  }

  async #forget(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => /^[0-9a-f]{64}$/.test(name));
    if (names.length <= MAX_BUNDLES) return;
    const dated = await Promise.all(
      names.map(async (name) => ({ name, usedAt: (await stat(join(this.#folder, name))).mtimeMs })),
    );
    const old = dated.sort((a, b) => b.usedAt - a.usedAt).slice(MAX_BUNDLES);
    for (const { name, usedAt } of old) {
      if (Date.now() - usedAt < YOUNG_MS) continue;
      await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }
}

export const hashOf = (code: Buffer): string => createHash('sha256').update(code).digest('hex');

/**
 * Reports when a file of a folder is changed, added or removed. Each folder is watched separately, which works on every
 * system. The details of an event are not trusted: any event leads to a look at the folder and a comparison with its last
 * state, so it does not matter how an editor writes files. If a folder can't be watched, it is looked at every second.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isPassedOver } from './find-files.ts';

export interface Watching {
  /** Resolves when the folder was looked at for the first time. A change before that may go untold: it is part of what is compared with. */
  readonly isReady: Promise<void>;
  close(): Promise<void>;
}

export interface WatchTiming {
  /** Quiet for this long before it is looked at: an editor writes in several steps. */
  readonly debounceMs?: number;
  readonly pollMs?: number;
  /** Looks every `pollMs` and watches nothing. */
  readonly alwaysPoll?: boolean;
}

/** @example const watching = watchFolder('dags', () => void redeploy()); … await watching.close(); */
export function watchFolder(folder: string, onChange: () => void, timing: WatchTiming = {}): Watching {
  const watching = new FolderWatch(folder, onChange, timing);
  watching.start();
  return watching;
}

class FolderWatch implements Watching {
  readonly #folder: string;
  readonly #onChange: () => void;
  readonly #timing: Required<WatchTiming>;
  readonly #watchers = new Map<string, FSWatcher>();
  isReady: Promise<void> = Promise.resolve();
  #seen: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;
  #mustPoll: boolean;

  constructor(folder: string, onChange: () => void, timing: WatchTiming) {
    this.#folder = folder;
    this.#onChange = onChange;
    this.#timing = { debounceMs: 150, pollMs: 1_000, alwaysPoll: false, ...timing };
    this.#mustPoll = this.#timing.alwaysPoll;
  }

  start(): void {
    this.#looking = this.#look();
    this.isReady = this.#looking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await this.#looking;
  }

  #lookIn(ms: number): void {
    if (this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#looking = this.#looking.then(() => this.#look());
    }, ms);
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    const folders = new Set<string>();
    const marks: string[] = [];
    await this.#read(this.#folder, folders, marks);
    for (const [path, watcher] of this.#watchers) {
      if (folders.has(path)) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    const now = marks.sort().join('\n');
    const changed = this.#seen !== null && this.#seen !== now;
    this.#seen = now;
    if (this.#isClosed) return;
    if (changed) this.#onChange();
    // A folder that is not there yet, or no longer, can't be watched.
    if (this.#mustPoll || folders.size === 0) this.#lookIn(this.#timing.pollMs);
  }

  async #read(folder: string, folders: Set<string>, marks: string[]): Promise<void> {
    // Watched before it is read: what comes in between is seen by one of the two.
    this.#watch(folder);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
    if (entries === null) return;
    folders.add(folder);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (isPassedOver(entry.name)) continue;
      if (entry.isDirectory()) await this.#read(path, folders, marks);
      else {
        const found = await stat(path).catch(() => null);
        if (found !== null) marks.push(`${path} ${found.mtimeMs} ${found.size} ${found.ino} ${found.mode}`);
      }
    }
  }

  #watch(folder: string): void {
    if (this.#mustPoll || this.#isClosed || this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, () => this.#lookIn(this.#timing.debounceMs));
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(folder);
        this.#lookIn(this.#timing.debounceMs);
      });
      this.#watchers.set(folder, watcher);
    } catch (error) {
      // Gone again, or no more watches to be had.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#mustPoll = true;
    }
  }
}

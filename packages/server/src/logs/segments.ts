/** The closed segments of a folder: listed at the start, read by binary search, removed by age and by size, oldest first. */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tell } from '../log.ts';
import type { LogAttempt } from './frame.ts';
import { recoverSegment } from './recover.ts';
import { type FoundPlaces, readIndexFacts, type SegmentFacts, SegmentIndex } from './segment-index.ts';

interface ClosedSegment extends SegmentFacts {
  /** Without its ending; sorts by age. */
  readonly name: string;
}

/** Of indexes in memory; one of them has at most 9 MB. */
const INDEX_BYTES = 32 * 1024 * 1024;
const NOTHING: FoundPlaces = { places: [], completeUntil: null };

export class ClosedSegments {
  readonly #folder: string;
  readonly #tell: Tell;
  #segments: ClosedSegment[] = [];
  /** In order of their last use. */
  readonly #indexes = new Map<string, SegmentIndex>();
  #indexBytes = 0;

  constructor(folder: string, tell: Tell) {
    this.#folder = folder;
    this.#tell = tell;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes, indexBytes }) => sum + bytes + indexBytes, 0);
  }

  get count(): number {
    return this.#segments.length;
  }

  segmentFile = (name: string): string => join(this.#folder, `${name}.log`);
  indexFile = (name: string): string => join(this.#folder, `${name}.idx`);

  async open(): Promise<void> {
    const files = await readdir(this.#folder);
    for (const file of files.filter((name) => name.endsWith('.new'))) await this.#remove(join(this.#folder, file));
    const names = files.filter((name) => name.endsWith('.log')).map((name) => name.slice(0, -'.log'.length));
    for (const name of names.sort()) {
      const facts = await this.#factsOf(name);
      if (facts !== null) this.#segments.push({ name, ...facts });
    }
    const known = new Set(names);
    for (const file of files.filter((name) => name.endsWith('.idx') && !known.has(name.slice(0, -4)))) {
      await this.#remove(join(this.#folder, file));
    }
  }

  add(segment: ClosedSegment): void {
    this.#segments.push(segment);
  }

  /** Those that may hold lines of the attempt, oldest first. */
  overlapping(attempt: LogAttempt, { since, until }: { since: number; until: number }): readonly ClosedSegment[] {
    return this.#segments.filter(
      ({ createdAt, lastAt, minRunId, maxRunId }) =>
        lastAt >= since && createdAt <= until && minRunId <= attempt.runId && maxRunId >= attempt.runId,
    );
  }

  async find(segment: ClosedSegment, attempt: LogAttempt, from: number, limit: number): Promise<FoundPlaces> {
    try {
      return (await this.#index(segment)).find(attempt, from, limit);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING; // dropped meanwhile
      throw error;
    }
  }

  /** By age, then by size; what is being read meanwhile reads as if it ended there. */
  async drop({ olderThan, bytesLimit }: { olderThan: number; bytesLimit: number }): Promise<number> {
    let dropped = 0;
    for (;;) {
      const [oldest] = this.#segments;
      if (oldest === undefined || (oldest.lastAt >= olderThan && this.bytes <= bytesLimit)) return dropped;
      this.#segments.shift();
      this.#forgetIndex(oldest.name);
      // The index last: without its segment it is removed at the next start, without its index a segment would be read again.
      await this.#remove(this.segmentFile(oldest.name));
      await this.#remove(this.indexFile(oldest.name));
      dropped += 1;
    }
  }

  async #factsOf(name: string): Promise<SegmentFacts | null> {
    const [file, indexFile] = [this.segmentFile(name), this.indexFile(name)];
    const known = await readIndexFacts(indexFile);
    const { size, mtimeMs } = await stat(file);
    if (known !== null && known.bytes === size) return known;
    const facts = await recoverSegment(file, indexFile).catch((error: unknown) => {
      // A full disk must not keep a server from starting: the index is made when somebody asks.
      this.#tell('error', 'An index of logs could not be made.', { segment: name, error: String(error) });
      return {
        createdAt: 0,
        lastAt: mtimeMs,
        bytes: size,
        indexBytes: 0,
        minRunId: 0,
        maxRunId: Number.MAX_SAFE_INTEGER,
      };
    });
    if (facts === null) {
      // Kept under another name: it is not ours to delete what we can't read.
      if (size > 16) await rename(file, `${file}.unreadable`);
      else await this.#remove(file);
    }
    this.#tell('info', 'A segment of logs had no index.', { segment: name, bytes: size, kept: facts?.bytes ?? 0 });
    return facts;
  }

  async #index(segment: ClosedSegment): Promise<SegmentIndex> {
    const known = this.#indexes.get(segment.name);
    if (known !== undefined) {
      this.#indexes.delete(segment.name);
      this.#indexes.set(segment.name, known);
      return known;
    }
    const index = await this.#load(segment.name);
    if (!this.#indexes.has(segment.name)) this.#indexBytes += index.bytes;
    this.#indexes.set(segment.name, index);
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexBytes <= INDEX_BYTES || oldest === segment.name) break;
      this.#forgetIndex(oldest);
    }
    return index;
  }

  async #load(name: string): Promise<SegmentIndex> {
    const loaded = await SegmentIndex.load(this.indexFile(name)).catch(() => null);
    if (loaded !== null) return loaded;
    this.#tell('warn', 'An index of logs was missing or damaged; it is made again.', { segment: name });
    await recoverSegment(this.segmentFile(name), this.indexFile(name));
    const again = await SegmentIndex.load(this.indexFile(name));
    if (again === null) throw new Error(`The index of log segment ${name} can't be made.`);
    return again;
  }

  #forgetIndex(name: string): void {
    this.#indexBytes -= this.#indexes.get(name)?.bytes ?? 0;
    this.#indexes.delete(name);
  }

  async #remove(file: string): Promise<void> {
    await rm(file, { force: true });
  }
}

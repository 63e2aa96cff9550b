/**
 * Logs of attempts in segment files (D12): appended as they arrive, read by attempt and line number.
 *
 * `append` resolves when the lines are written: a crash of this process loses none of them. They are synced five times a
 * second, so a power cut can lose what was acknowledged in the last 200 ms and what the disk's own cache held. The write
 * queue is bounded: callers of `append` wait, and so does the worker behind them.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import type { Tell } from '../log.ts';
import { systemClock } from '../ports/clock.ts';
import {
  checkFrame,
  type FramePlace,
  framesOf,
  LINES_END,
  type LogAttempt,
  type LogLines,
  linesOf,
  type NumberedLine,
} from './frame.ts';
import { OpenSegment } from './open-segment.ts';
import { readAt } from './recover.ts';
import type { FoundPlaces } from './segment-index.ts';
import { ClosedSegments } from './segments.ts';
import { StoredRanges } from './stored-ranges.ts';

export interface LogStoreOptions {
  readonly folder: string;
  /** The size of all segments; the oldest are removed first. */
  readonly bytesLimit: number;
  readonly retentionDays: number;
  readonly tell: Tell;
  readonly now?: () => number;
  readonly segmentBytes?: number;
}

export interface ReadLog {
  readonly attempt: LogAttempt;
  /** The attempt's time: segments beyond it are not looked at. Null until: it runs. */
  readonly since: number;
  readonly until: number | null;
  readonly from: number;
  readonly limit: number;
  readonly bytesLimit?: number;
}

export interface LogPage {
  /** Ascending, each number once. A number that lacks is not stored here. */
  readonly lines: readonly NumberedLine[];
  /** There may be more behind the last one. */
  readonly hasMore: boolean;
}

export interface LogStats {
  readonly segments: number;
  readonly bytes: number;
  /** Stored since the start. */
  readonly lines: number;
  readonly refusedPieces: number;
}

const SEGMENT_BYTES = 64 * 1024 * 1024;
/** Bounds the memory of places. */
const SEGMENT_FRAMES = 200_000;
/** Of so many. */
const INDEX_BYTES = 9_000_000;
const SEGMENT_AGE_MS = 86_400_000;
const SYNC_MS = 200;
/** Waiting to be written; beyond it, who appends waits. */
const QUEUED_BYTES = 8 * 1024 * 1024;
const WRITE_BYTES = 4 * 1024 * 1024;
const PAGE_BYTES = 1024 * 1024;
const DAY_MS = 86_400_000;
/** Clocks of nodes differ, and a worker that was cut off brings its lines late. */
const EARLIER_MS = 3_600_000;
const LATER_MS = DAY_MS;

interface Queued {
  readonly pieces: readonly LogLines[];
  readonly bytes: number;
  readonly done: (error: Error | null) => void;
}

export class LogStore {
  readonly #options: LogStoreOptions;
  readonly #closed: ClosedSegments;
  readonly #stored = new StoredRanges();
  readonly #followers = new Map<number, Set<() => void>>();
  readonly #segmentBytes: number;
  /** For the segment that grows, with its index. */
  readonly #reservedBytes: number;
  #open: OpenSegment | null = null;
  #openName = '';
  #queue: Queued[] = [];
  #queuedBytes = 0;
  #waiting: (() => void)[] = [];
  #writing: Promise<void> | null = null;
  #syncTimer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #lines = 0;
  /** Counted for the metrics, by who looks at their tokens. */
  refusedPieces = 0;

  private constructor(options: LogStoreOptions) {
    this.#options = options;
    this.#closed = new ClosedSegments(options.folder, options.tell);
    // A small cap is kept too: the segment that grows is never dropped.
    this.#segmentBytes = Math.min(options.segmentBytes ?? SEGMENT_BYTES, Math.ceil(options.bytesLimit / 4));
    this.#reservedBytes = this.#segmentBytes + Math.min(INDEX_BYTES, this.#segmentBytes);
  }

  /** @example const logs = await LogStore.open({ folder, bytesLimit: 10 * 2 ** 30, retentionDays: 30, tell }); */
  static async open(options: LogStoreOptions): Promise<LogStore> {
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    const store = new LogStore(options);
    await store.#closed.open();
    await store.dropExpired();
    return store;
  }

  get stats(): LogStats {
    const open = this.#open;
    return {
      segments: this.#closed.count + (open === null ? 0 : 1),
      bytes: this.#closed.bytes + (open?.bytes ?? 0),
      lines: this.#lines,
      refusedPieces: this.refusedPieces,
    };
  }

  /** Resolves when they are written; lines that were stored before are not stored again. */
  async append(pieces: readonly LogLines[]): Promise<void> {
    for (const { firstLine, lines } of pieces) {
      if (!(firstLine + lines.length <= LINES_END)) throw new RangeError(`There can be no line ${firstLine}.`);
    }
    while (this.#queuedBytes > QUEUED_BYTES) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new Error('The log store is closed.');
    return new Promise((resolve, reject) => {
      const bytes = pieces.reduce(
        (sum, piece) => piece.lines.reduce((all, { text }) => all + text.length + 50, sum),
        0,
      );
      this.#queue.push({ pieces, bytes, done: (error) => (error === null ? resolve() : reject(error)) });
      this.#queuedBytes += bytes;
      this.#writing ??= this.#writeQueue();
    });
  }

  async read(request: ReadLog): Promise<LogPage> {
    const { attempt, from, limit } = request;
    const found: { file: string; found: FoundPlaces }[] = [];
    const since = request.since - EARLIER_MS;
    const until = request.until === null ? Number.POSITIVE_INFINITY : request.until + LATER_MS;
    // Taken before the closed ones: a segment that is closed meanwhile is in the list by then, or still the open one.
    const open = this.#open;
    if (open !== null && open.lastAt >= since && open.createdAt <= until) {
      found.push({ file: open.file, found: open.places.find(attempt, from, limit) });
    }
    for (const segment of this.#closed.overlapping(attempt, { since, until })) {
      const file = this.#closed.segmentFile(segment.name);
      if (file === open?.file) continue;
      found.push({ file, found: await this.#closed.find(segment, attempt, from, limit) });
    }
    return this.#collect(found, request);
  }

  /** Calls back after lines of the run were stored, until it is told to stop. */
  follow(runId: number, onStored: () => void): () => void {
    const followers = this.#followers.get(runId) ?? new Set();
    this.#followers.set(runId, followers);
    followers.add(onStored);
    return () => {
      followers.delete(onStored);
      if (followers.size === 0 && this.#followers.get(runId) === followers) this.#followers.delete(runId);
    };
  }

  /** One round of upkeep: what is too old goes, and what is too much. */
  async dropExpired(): Promise<number> {
    const { bytesLimit, retentionDays, tell } = this.#options;
    const open = this.#open;
    if (open !== null && this.#now() - open.createdAt > SEGMENT_AGE_MS) await this.#afterWrites(() => this.#roll());
    const dropped = await this.#closed.drop({
      olderThan: this.#now() - retentionDays * DAY_MS,
      bytesLimit: bytesLimit - this.#reservedBytes,
    });
    if (dropped > 0) tell('info', 'Segments of logs were dropped.', { dropped, ...this.stats });
    return dropped;
  }

  /** What is queued is written first. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#afterWrites(() => this.#roll());
    if (this.#syncTimer !== null) clearTimeout(this.#syncTimer);
  }

  #now(): number {
    return this.#options.now?.() ?? systemClock.wall();
  }

  async #afterWrites(act: () => Promise<void>): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    const acting = act().finally(() => {
      this.#writing = this.#queue.length > 0 ? this.#writeQueue() : null;
    });
    this.#writing = acting.catch(() => undefined);
    await acting;
  }

  async #writeQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch();
      let failure: Error | null = null;
      try {
        await this.#write(batch.flatMap(({ pieces }) => pieces));
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        for (const { pieces } of batch) for (const { attempt } of pieces) this.#stored.forget(attempt);
        this.#options.tell('error', 'Logs could not be written.', { error: String(error) });
      }
      for (const { bytes, done } of batch) {
        this.#queuedBytes -= bytes;
        done(failure);
      }
      for (const waiting of this.#waiting.splice(0)) waiting();
    }
    this.#writing = null;
  }

  #takeBatch(): Queued[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && bytes < WRITE_BYTES) {
      bytes += this.#queue[count]?.bytes ?? 0;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #write(pieces: readonly LogLines[]): Promise<void> {
    let [frames, places, pending] = [[] as Buffer[], [] as FramePlace[], 0];
    const runs = new Set<number>();
    const flush = async () => {
      if (frames.length > 0) await this.#open?.append(frames, places, this.#now());
      [frames, places, pending] = [[], [], 0];
    };
    for (const piece of pieces) {
      for (const fresh of this.#stored.take(piece)) {
        runs.add(fresh.attempt.runId);
        this.#lines += fresh.lines.length;
        for (const { bytes, firstLine, lineCount } of framesOf(fresh)) {
          let open = await this.#segment();
          if (
            open.bytes + pending + bytes.length > this.#segmentBytes ||
            open.places.count + places.length >= SEGMENT_FRAMES
          ) {
            await flush();
            await this.#roll();
            await this.#closed.drop({ olderThan: 0, bytesLimit: this.#options.bytesLimit - this.#reservedBytes });
            open = await this.#segment();
          }
          places.push({
            attempt: fresh.attempt,
            firstLine,
            lineCount,
            offset: open.bytes + pending,
            bytes: bytes.length,
          });
          frames.push(bytes);
          pending += bytes.length;
        }
      }
    }
    await flush();
    this.#planSync();
    for (const runId of runs) for (const onStored of this.#followers.get(runId) ?? []) onStored();
  }

  async #segment(): Promise<OpenSegment> {
    if (this.#open !== null) return this.#open;
    const now = this.#now();
    this.#openName = `${String(now).padStart(14, '0')}-${randomBytes(3).toString('hex')}`;
    this.#open = await OpenSegment.create(this.#closed.segmentFile(this.#openName), now);
    return this.#open;
  }

  async #roll(): Promise<void> {
    const [open, name] = [this.#open, this.#openName];
    if (open === null) return;
    try {
      this.#closed.add({ name, ...(await open.close(this.#closed.indexFile(name))) });
    } catch (error) {
      // A full disk, mostly. What is written stays; the index is made when somebody asks, or at the next start.
      this.#options.tell('error', 'A segment of logs was not closed in order.', { error: String(error) });
      this.#closed.add({ name, ...open.facts() });
    } finally {
      this.#open = null;
    }
  }

  #planSync(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = null;
      this.#open
        ?.sync()
        .catch((error) => this.#options.tell('error', 'Logs could not be synced.', { error: String(error) }));
    }, SYNC_MS);
  }

  /** Frames in order of their lines, up to the page's end, or to where one of the segments had more places than were taken. */
  async #collect(found: readonly { file: string; found: FoundPlaces }[], request: ReadLog): Promise<LogPage> {
    const { limit, bytesLimit = PAGE_BYTES } = request;
    const horizon = Math.min(...found.map((each) => each.found.completeUntil ?? Number.POSITIVE_INFINITY));
    const places = found.flatMap(({ file, found: { places } }) => places.map((place) => ({ file, place })));
    places.sort((a, b) => a.place.firstLine - b.place.firstLine);
    const lines: NumberedLine[] = [];
    const reader = new FrameReader();
    let next = request.from;
    let bytes = 0;
    try {
      for (const { file, place } of places) {
        if (place.firstLine + place.lineCount <= next) continue;
        if (place.firstLine >= horizon) break;
        const frame = await reader.read(file, place);
        if (frame === null) {
          this.#options.tell('warn', 'Lines of a log could not be read.', { file, offset: place.offset });
          continue;
        }
        for (const line of linesOf(frame, next)) {
          if (line.no >= horizon) break;
          if (lines.length >= limit || bytes > bytesLimit) return { lines, hasMore: true };
          lines.push(line);
          bytes += line.text.length;
          next = line.no + 1;
        }
      }
    } finally {
      await reader.close();
    }
    return { lines, hasMore: horizon !== Number.POSITIVE_INFINITY };
  }
}

/** Keeps the file of the last frame open: the next one mostly lies in the same. */
class FrameReader {
  #file = '';
  #handle: Awaited<ReturnType<typeof open>> | null = null;

  /** Null when the segment was dropped meanwhile, or its bytes are not what was written. */
  async read(file: string, place: FramePlace): Promise<Buffer | null> {
    if (file !== this.#file) {
      await this.close();
      this.#handle = await open(file, 'r').catch(() => null);
      this.#file = file;
    }
    if (this.#handle === null) return null;
    const frame = await readAt(this.#handle, place.offset, place.bytes);
    return frame.length === place.bytes && checkFrame(frame, place.offset) !== null ? frame : null;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
    this.#file = '';
  }
}

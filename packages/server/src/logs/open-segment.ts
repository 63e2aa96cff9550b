/** The one segment that grows. A frame that is written survives the process; a frame that is synced survives a power cut. */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FramePlace, SEGMENT_HEADER_BYTES, segmentHeader } from './frame.ts';
import { PlaceColumns, type SegmentFacts, writeIndex } from './segment-index.ts';

export class OpenSegment {
  readonly file: string;
  readonly createdAt: number;
  readonly places = new PlaceColumns();
  readonly #handle: FileHandle;
  #bytes = SEGMENT_HEADER_BYTES;
  #isDirty = true;
  #syncing: Promise<void> | null = null;
  lastAt: number;

  private constructor(file: string, createdAt: number, handle: FileHandle) {
    this.file = file;
    this.createdAt = createdAt;
    this.lastAt = createdAt;
    this.#handle = handle;
  }

  static async create(file: string, now: number): Promise<OpenSegment> {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.write(segmentHeader(now), 0, SEGMENT_HEADER_BYTES, 0);
      await syncFolder(dirname(file)); // or a power cut could take the whole file
      return new OpenSegment(file, now, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** All of the frames or none: what was half written is cut off again, here or by the next start. */
  async append(frames: readonly Buffer[], places: readonly FramePlace[], now: number): Promise<void> {
    const total = frames.reduce((sum, frame) => sum + frame.length, 0);
    try {
      let at = this.#bytes;
      const whole = Buffer.concat(frames, total);
      for (let written = 0; written < total; ) {
        const { bytesWritten } = await this.#handle.write(whole, written, total - written, at);
        written += bytesWritten;
        at += bytesWritten;
      }
    } catch (error) {
      await this.#handle.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
    this.#isDirty = true;
    this.#bytes += total;
    this.lastAt = Math.max(this.lastAt, now);
    for (const place of places) this.places.add(place);
  }

  /** For a reader that has no index of it. */
  facts(): SegmentFacts {
    const { createdAt, lastAt, bytes } = this;
    return { createdAt, lastAt, bytes, indexBytes: 0, minRunId: 0, maxRunId: Number.MAX_SAFE_INTEGER };
  }

  sync(): Promise<void> {
    if (!this.#isDirty) return this.#syncing ?? Promise.resolve();
    this.#isDirty = false;
    const syncing = (this.#syncing ?? Promise.resolve()).then(() => this.#handle.datasync());
    this.#syncing = syncing.catch(() => {
      this.#isDirty = true;
    });
    return syncing;
  }

  /** Synced, closed, and with its index beside it. */
  async close(indexFile: string): Promise<SegmentFacts> {
    try {
      await this.sync();
    } finally {
      await this.#handle.close();
    }
    return writeIndex(indexFile, this.places, this);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null); // not every system opens folders
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

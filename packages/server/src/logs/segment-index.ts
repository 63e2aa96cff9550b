/**
 * Where the lines of an attempt are. While a segment grows, its places are columns in memory, in order of arrival. When it
 * is closed they are written to a file, sorted, so a reader finds those of one attempt by binary search.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { compareAttempts, type FramePlace, type LogAttempt } from './frame.ts';

/** The facts about a segment that are known without opening it. */
export interface SegmentFacts {
  readonly createdAt: number;
  readonly lastAt: number;
  /** Of the segment itself. */
  readonly bytes: number;
  readonly indexBytes: number;
  readonly minRunId: number;
  readonly maxRunId: number;
}

/** Some places of one attempt in order of their lines. */
export interface FoundPlaces {
  readonly places: readonly FramePlace[];
  /** Lines before it are all in `places`; null when no more of them lie in this segment. */
  readonly completeUntil: number | null;
}

const MAGIC = Buffer.from('SBXIDX1\n');
const HEADER_BYTES = 64;
const RECORD_BYTES = 44;

export class PlaceColumns {
  #runIds = new Float64Array(256);
  #fences = new Float64Array(256);
  /** Task, attempt, first line, count, offset, bytes. */
  #rest = new Uint32Array(256 * 6);
  count = 0;

  add({ attempt, firstLine, lineCount, offset, bytes }: FramePlace): void {
    if (this.count === this.#runIds.length) this.#grow();
    this.#runIds[this.count] = attempt.runId;
    this.#fences[this.count] = attempt.fence;
    this.#rest.set([attempt.taskNo, attempt.attemptNo, firstLine, lineCount, offset, bytes], this.count * 6);
    this.count += 1;
  }

  at(i: number): FramePlace {
    const rest = (field: number): number => this.#rest[i * 6 + field] ?? 0;
    return {
      attempt: { runId: this.#runIds[i] ?? 0, taskNo: rest(0), attemptNo: rest(1), fence: this.#fences[i] ?? 0 },
      firstLine: rest(2),
      lineCount: rest(3),
      offset: rest(4),
      bytes: rest(5),
    };
  }

  /** A look at every place: 0.2 ms for the most that a segment may have. */
  find(attempt: LogAttempt, from: number, limit: number): FoundPlaces {
    const found: FramePlace[] = [];
    for (let i = 0; i < this.count; i++) {
      if (this.#runIds[i] !== attempt.runId) continue;
      const place = this.at(i);
      if (compareAttempts(place.attempt, attempt) === 0 && endOf(place) > from) found.push(place);
    }
    found.sort(byLine);
    const places = found.slice(0, limit);
    const isAll = places.length === found.length;
    return { places, completeUntil: isAll ? null : Math.max(...places.map(endOf)) };
  }

  /** As they are written to the index file. */
  sorted(): { readonly records: Buffer; readonly minRunId: number; readonly maxRunId: number } {
    const places = Array.from({ length: this.count }, (_, i) => this.at(i));
    places.sort((a, b) => compareAttempts(a.attempt, b.attempt) || byLine(a, b));
    const records = Buffer.allocUnsafe(places.length * RECORD_BYTES);
    let previous: LogAttempt | null = null;
    let maxEnd = 0;
    let at = 0;
    for (const place of places) {
      maxEnd =
        previous !== null && compareAttempts(previous, place.attempt) === 0
          ? Math.max(maxEnd, endOf(place))
          : endOf(place);
      previous = place.attempt;
      at = records.writeDoubleBE(place.attempt.runId, at);
      at = records.writeUInt32BE(place.attempt.taskNo, at);
      at = records.writeUInt32BE(place.attempt.attemptNo, at);
      at = records.writeDoubleBE(place.attempt.fence, at);
      at = records.writeUInt32BE(place.firstLine, at);
      at = records.writeUInt32BE(place.lineCount, at);
      at = records.writeUInt32BE(place.offset, at);
      at = records.writeUInt32BE(place.bytes, at);
      at = records.writeUInt32BE(maxEnd, at);
    }
    return { records, minRunId: places[0]?.attempt.runId ?? 0, maxRunId: places.at(-1)?.attempt.runId ?? 0 };
  }

  #grow(): void {
    const grown = <T extends Float64Array | Uint32Array>(old: T, fresh: T): T => {
      fresh.set(old);
      return fresh;
    };
    this.#runIds = grown(this.#runIds, new Float64Array(this.#runIds.length * 2));
    this.#fences = grown(this.#fences, new Float64Array(this.#fences.length * 2));
    this.#rest = grown(this.#rest, new Uint32Array(this.#rest.length * 2));
  }
}

/** Whole or not at all: under its name it appears only when it is on the disk. */
export async function writeIndex(
  file: string,
  columns: PlaceColumns,
  { createdAt, lastAt, bytes }: Pick<SegmentFacts, 'createdAt' | 'lastAt' | 'bytes'>,
): Promise<SegmentFacts> {
  const { records, minRunId, maxRunId } = columns.sorted();
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32BE(columns.count, 8);
  header.writeUInt32BE(crc32(records), 12);
  [createdAt, lastAt, bytes, minRunId, maxRunId].forEach((value, i) => header.writeDoubleBE(value, 16 + i * 8));
  header.writeUInt32BE(crc32(header.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4);
  const handle = await open(`${file}.new`, 'w', 0o600);
  try {
    await handle.write(header);
    await handle.write(records);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
  return { createdAt, lastAt, bytes, minRunId, maxRunId, indexBytes: HEADER_BYTES + records.length };
}

/** Null when there is none, or not a whole one. */
export async function readIndexFacts(file: string): Promise<SegmentFacts | null> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const { size } = await handle.stat();
    const facts = bytesRead === HEADER_BYTES ? factsIn(buffer) : null;
    return facts !== null && size === facts.indexBytes ? facts : null;
  } finally {
    await handle.close();
  }
}

function factsIn(header: Buffer): SegmentFacts | null {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (crc32(header.subarray(0, HEADER_BYTES - 4)) !== header.readUInt32BE(HEADER_BYTES - 4)) return null;
  const value = (i: number): number => header.readDoubleBE(16 + i * 8);
  const indexBytes = HEADER_BYTES + header.readUInt32BE(8) * RECORD_BYTES;
  return { createdAt: value(0), lastAt: value(1), bytes: value(2), indexBytes, minRunId: value(3), maxRunId: value(4) };
}

/** The index of a closed segment, whole in memory while it is in use. */
export class SegmentIndex {
  readonly #records: Buffer;

  private constructor(records: Buffer) {
    this.#records = records;
  }

  /** Null when its bytes are not what was written. */
  static async load(file: string): Promise<SegmentIndex | null> {
    const bytes = await readFile(file);
    const records = bytes.subarray(HEADER_BYTES);
    return bytes.length >= HEADER_BYTES && crc32(records) === bytes.readUInt32BE(12) ? new SegmentIndex(records) : null;
  }

  get bytes(): number {
    return this.#records.length;
  }

  /** From the first place on that reaches beyond line `from`. */
  find(attempt: LogAttempt, from: number, limit: number): FoundPlaces {
    const count = this.#records.length / RECORD_BYTES;
    const start = firstWhere(count, (i) => {
      const order = this.#compare(i, attempt);
      return order > 0 || (order === 0 && this.#maxEnd(i) > from);
    });
    const places: FramePlace[] = [];
    let i = start;
    for (; i < count && places.length < limit && this.#compare(i, attempt) === 0; i++) places.push(this.#place(i));
    const isAll = i >= count || this.#compare(i, attempt) !== 0;
    return { places, completeUntil: isAll ? null : this.#maxEnd(i - 1) };
  }

  #compare(i: number, attempt: LogAttempt): number {
    return compareAttempts(this.#place(i).attempt, attempt);
  }

  #maxEnd(i: number): number {
    return this.#records.readUInt32BE(i * RECORD_BYTES + 40);
  }

  #place(i: number): FramePlace {
    const at = i * RECORD_BYTES;
    const records = this.#records;
    return {
      attempt: {
        runId: records.readDoubleBE(at),
        taskNo: records.readUInt32BE(at + 8),
        attemptNo: records.readUInt32BE(at + 12),
        fence: records.readDoubleBE(at + 16),
      },
      firstLine: records.readUInt32BE(at + 24),
      lineCount: records.readUInt32BE(at + 28),
      offset: records.readUInt32BE(at + 32),
      bytes: records.readUInt32BE(at + 36),
    };
  }
}

/** The smallest number for which it holds, if it holds for all after it; `count` when for none. */
function firstWhere(count: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const endOf = ({ firstLine, lineCount }: FramePlace): number => firstLine + lineCount;
const byLine = (a: FramePlace, b: FramePlace): number => a.firstLine - b.firstLine || a.offset - b.offset;

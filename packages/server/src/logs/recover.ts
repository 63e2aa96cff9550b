/**
 * After a crash the last segment has no index and can end in the middle of a frame. It is read once, cut after its last
 * complete frame, and gets its index. From then on it is a closed segment like all others.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { checkFrame, FRAME_HEAD_BYTES, frameBytes, readSegmentHeader, SEGMENT_HEADER_BYTES } from './frame.ts';
import { PlaceColumns, type SegmentFacts, writeIndex } from './segment-index.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Null when nothing whole is in it. */
export async function recoverSegment(file: string, indexFile: string): Promise<SegmentFacts | null> {
  const handle = await open(file, 'r+');
  try {
    const { size, mtimeMs } = await handle.stat();
    const header = await readAt(handle, 0, SEGMENT_HEADER_BYTES);
    const createdAt = readSegmentHeader(header);
    if (createdAt === null) return null;
    const columns = new PlaceColumns();
    const end = await scan(handle, size, columns);
    if (columns.count === 0) return null;
    if (end < size) {
      await handle.truncate(end);
      await handle.sync();
    }
    return await writeIndex(indexFile, columns, { createdAt, lastAt: Math.max(createdAt, mtimeMs), bytes: end });
  } finally {
    await handle.close();
  }
}

/** Where the last whole frame ends. Reads ahead by a chunk, not by the file. */
async function scan(handle: FileHandle, size: number, columns: PlaceColumns): Promise<number> {
  let chunk: Buffer = Buffer.alloc(0);
  let chunkAt = 0;
  const bytesAt = async (offset: number, length: number): Promise<Buffer> => {
    if (offset < chunkAt || offset + length > chunkAt + chunk.length) {
      chunk = await readAt(handle, offset, Math.max(length, CHUNK_BYTES));
      chunkAt = offset;
    }
    return chunk.subarray(offset - chunkAt, offset - chunkAt + length);
  };
  let at = SEGMENT_HEADER_BYTES;
  while (at + FRAME_HEAD_BYTES <= size) {
    const length = frameBytes(await bytesAt(at, FRAME_HEAD_BYTES), 0);
    if (length === null || at + length > size) break;
    const place = checkFrame(await bytesAt(at, length), at);
    if (place === null) break;
    columns.add(place);
    at += length;
  }
  return at;
}

export async function readAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

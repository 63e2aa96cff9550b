/**
 * The contents of a segment file: a header, then frames. A frame is some consecutive lines of one attempt, preceded by its
 * length and a CRC-32, so a torn end is recognised (docs/decisions/0011).
 */
import { crc32 } from 'node:zlib';
import { LOG_STREAMS, type LogLine, type LogStream } from '@signalbox/protocol/grpc';

/** One claim of a task: lines of an attempt that was given out twice are not mixed up. */
export interface LogAttempt {
  readonly runId: number;
  readonly taskNo: number;
  readonly attemptNo: number;
  readonly fence: number;
}

/** Consecutive lines of one attempt. */
export interface LogLines {
  readonly attempt: LogAttempt;
  readonly firstLine: number;
  readonly lines: readonly LogLine[];
}

export interface NumberedLine extends LogLine {
  readonly no: number;
}

/** Where some lines of an attempt lie in a segment. */
export interface FramePlace {
  readonly attempt: LogAttempt;
  readonly firstLine: number;
  readonly lineCount: number;
  readonly offset: number;
  readonly bytes: number;
}

const MAGIC = Buffer.from('SBXLOG1\n');
export const SEGMENT_HEADER_BYTES = 16;
/** Length of the body and its CRC. */
export const FRAME_HEAD_BYTES = 8;
const BODY_HEAD_BYTES = 32;
/** Instant, stream, length. */
const LINE_HEAD_BYTES = 11;
/** A page is read in whole frames, so frames are not made larger than this and one line. */
const FRAME_BYTES = 256 * 1024;
/** Beyond it a length is no length: whatever follows was never written by us. */
const LONGEST_FRAME = 8 * 1024 * 1024;
const LATEST = 2 ** 48 - 1;
/** Numbers of lines are below it, so that the end of any frame fits 32 bits. */
export const LINES_END = 2 ** 31;

const STREAM_NO = new Map<LogStream, number>(LOG_STREAMS.map((stream, no) => [stream, no]));

export function segmentHeader(createdAt: number): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(header);
  header.writeDoubleBE(createdAt, MAGIC.length);
  return header;
}

/** When the segment was begun; null for a file that is none. */
export function readSegmentHeader(header: Buffer): number | null {
  if (header.length < SEGMENT_HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  return header.readDoubleBE(MAGIC.length);
}

/** Cuts lines so that no frame grows beyond its size. */
export function* framesOf({
  attempt,
  firstLine,
  lines,
}: LogLines): Generator<{ bytes: Buffer; lineCount: number; firstLine: number }> {
  let from = 0;
  while (from < lines.length) {
    let size = FRAME_HEAD_BYTES + BODY_HEAD_BYTES;
    let to = from;
    for (; to < lines.length && size < FRAME_BYTES; to++) {
      size += LINE_HEAD_BYTES + Buffer.byteLength(lines[to]?.text ?? '');
    }
    const part = { attempt, firstLine: firstLine + from, lines: lines.slice(from, to) };
    yield { bytes: encodeFrame(part, size), firstLine: part.firstLine, lineCount: to - from };
    from = to;
  }
}

function encodeFrame({ attempt, firstLine, lines }: LogLines, size: number): Buffer {
  const frame = Buffer.allocUnsafe(size);
  let at = FRAME_HEAD_BYTES;
  at = frame.writeDoubleBE(attempt.runId, at);
  at = frame.writeUInt32BE(attempt.taskNo, at);
  at = frame.writeUInt32BE(attempt.attemptNo, at);
  at = frame.writeDoubleBE(attempt.fence, at);
  at = frame.writeUInt32BE(firstLine, at);
  at = frame.writeUInt32BE(lines.length, at);
  for (const line of lines) {
    at = frame.writeUIntBE(Math.min(Math.max(0, line.at), LATEST), at, 6);
    at = frame.writeUInt8(STREAM_NO.get(line.stream) ?? 0, at);
    const length = frame.write(line.text, at + 4);
    frame.writeUInt32BE(length, at);
    at += 4 + length;
  }
  frame.writeUInt32BE(size - FRAME_HEAD_BYTES, 0);
  frame.writeUInt32BE(crc32(frame.subarray(FRAME_HEAD_BYTES)), 4);
  return frame;
}

/** How long the frame at this place says it is, head included; null when that can't be. */
export function frameBytes(buffer: Buffer, at: number): number | null {
  const body = buffer.readUInt32BE(at);
  return body >= BODY_HEAD_BYTES && body <= LONGEST_FRAME ? body + FRAME_HEAD_BYTES : null;
}

/** The frame's place by its own words; null when its bytes are not what was written. */
export function checkFrame(frame: Buffer, offset: number): FramePlace | null {
  if (crc32(frame.subarray(FRAME_HEAD_BYTES)) !== frame.readUInt32BE(4)) return null;
  return {
    attempt: {
      runId: frame.readDoubleBE(8),
      taskNo: frame.readUInt32BE(16),
      attemptNo: frame.readUInt32BE(20),
      fence: frame.readDoubleBE(24),
    },
    firstLine: frame.readUInt32BE(32),
    lineCount: frame.readUInt32BE(36),
    offset,
    bytes: frame.length,
  };
}

/** The lines of a checked frame from one number on. */
export function* linesOf(frame: Buffer, from: number): Generator<NumberedLine> {
  const firstLine = frame.readUInt32BE(32);
  const end = firstLine + frame.readUInt32BE(36);
  let at = FRAME_HEAD_BYTES + BODY_HEAD_BYTES;
  for (let no = firstLine; no < end; no++) {
    const length = frame.readUInt32BE(at + 7);
    if (no >= from) {
      const text = frame.toString('utf8', at + LINE_HEAD_BYTES, at + LINE_HEAD_BYTES + length);
      yield { no, at: frame.readUIntBE(at, 6), stream: LOG_STREAMS[frame[at + 6] ?? 0] ?? 'stdout', text };
    }
    at += LINE_HEAD_BYTES + length;
  }
}

export function compareAttempts(a: LogAttempt, b: LogAttempt): number {
  return a.runId - b.runId || a.taskNo - b.taskNo || a.attemptNo - b.attemptNo || a.fence - b.fence;
}

export function keyOf({ runId, taskNo, attemptNo, fence }: LogAttempt): string {
  return `${runId}.${taskNo}.${attemptNo}.${fence}`;
}

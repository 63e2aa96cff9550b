/** From the wire to the domain, for logs and bundles. A fault here is the sender's own, so that it refuses the whole message. */
import { bytes, count, filledText, list, record, refuse, requireFormat, text } from './check.ts';
import {
  BUNDLE_CHUNK_BYTES,
  type BundleChunk,
  type LogBatch,
  type LogLine,
  type LogPiece,
  type LogStream,
  MAX_LOG_BATCH_LINES,
  MAX_LOG_LINE_BYTES,
  OUTPUT_CHUNK_BYTES,
  type OutputPart,
  type OutputRequest,
} from './data-messages.ts';
import { parseClaim } from './parse.ts';

const TOKEN_BYTES = 256;
const HASH = /^[0-9a-f]{64}$/;

const STREAMS: ReadonlyMap<unknown, LogStream> = new Map([
  ['LOG_STREAM_STDOUT', 'stdout'],
  ['LOG_STREAM_STDERR', 'stderr'],
  ['LOG_STREAM_LOG', 'log'],
  ['LOG_STREAM_SYSTEM', 'system'],
]);

function parseLine(value: unknown): LogLine {
  const fields = record(value, 'pieces.lines');
  const line = text(fields.text, 'pieces.lines.text', MAX_LOG_LINE_BYTES);
  // A UTF-16 unit takes at most 3 bytes of UTF-8, so that most lines need not be measured.
  if (line.length * 3 > MAX_LOG_LINE_BYTES && Buffer.byteLength(line) > MAX_LOG_LINE_BYTES) {
    refuse('pieces.lines.text', `is longer than ${MAX_LOG_LINE_BYTES} bytes`);
  }
  return {
    at: count(fields.at, 'pieces.lines.at'),
    stream: STREAMS.get(fields.stream) ?? refuse('pieces.lines.stream', 'is not known'),
    text: line,
  };
}

function parsePiece(value: unknown): LogPiece {
  const fields = record(value, 'pieces');
  return {
    claim: parseClaim(fields, 'pieces'),
    token: bytes(fields.token, 'pieces.token', TOKEN_BYTES),
    firstLine: count(fields.firstLine, 'pieces.firstLine'),
    lines: list(fields.lines, 'pieces.lines').map(parseLine),
  };
}

/** What a worker pushes. Throws UNKNOWN_FORMAT or BAD_REQUEST. */
export function parseLogBatch(input: unknown): LogBatch {
  const fields = record(input, 'batch');
  requireFormat(fields.format);
  const pieces = list(fields.pieces, 'pieces').map(parsePiece);
  const lineCount = pieces.reduce((sum, { lines }) => sum + lines.length, 0);
  if (lineCount > MAX_LOG_BATCH_LINES) refuse('pieces', `hold more than ${MAX_LOG_BATCH_LINES} lines`);
  return { no: count(fields.no, 'no'), pieces };
}

/** The number of the last batch that is stored with all before it. */
export function parseLogStored(input: unknown): number {
  return count(record(input, 'stored').no, 'stored.no');
}

/** The hash that is asked for: SHA-256 in lower-case hex. */
export function parseBundleRequest(input: unknown): string {
  const fields = record(input, 'request');
  requireFormat(fields.format);
  const hash = filledText(fields.hash, 'hash', 64);
  return HASH.test(hash) ? hash : refuse('hash', 'is no SHA-256 in lower-case hex');
}

/** Longer than any that we make: a map within a map has a range for each of its outer items. */
const MAX_ID_CHARS = 2 * 1024 * 1024;

export function parseOutputRequest(input: unknown): OutputRequest {
  const fields = record(input, 'request');
  requireFormat(fields.format);
  return {
    claim: parseClaim(fields, 'request'),
    token: bytes(fields.token, 'token', TOKEN_BYTES),
    id: filledText(fields.id, 'id', MAX_ID_CHARS),
  };
}

/** The bytes of a chunk of JSON. */
export function parseOutputChunk(input: unknown): Buffer {
  return bytes(record(input, 'chunk').json, 'chunk.json', OUTPUT_CHUNK_BYTES);
}

export function parseOutputPart(input: unknown, isFirst: boolean): OutputPart {
  const fields = record(input, 'part');
  const json = bytes(fields.json, 'part.json', OUTPUT_CHUNK_BYTES);
  if (!isFirst) return { head: null, json };
  requireFormat(fields.format);
  const token = bytes(fields.token, 'part.token', TOKEN_BYTES);
  const taskName = filledText(fields.taskName, 'part.taskName', 1_000);
  return { head: { claim: parseClaim(fields, 'part'), token, taskName }, json };
}

export function parseStoredOutput(input: unknown): string {
  return filledText(record(input, 'stored').reference, 'stored.reference', MAX_ID_CHARS);
}

export function parseBundleChunk(input: unknown): BundleChunk {
  const fields = record(input, 'chunk');
  return {
    code: bytes(fields.code, 'chunk.code', BUNDLE_CHUNK_BYTES),
    sourceMap: bytes(fields.sourceMap, 'chunk.sourceMap', BUNDLE_CHUNK_BYTES),
  };
}

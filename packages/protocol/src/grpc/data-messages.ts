/** What workers and a node's data service say to each other, as both ends see it: `proto/data.proto` with the words of the domain. */
import type { Claim } from './worker-messages.ts';

/** `log`: what user code said through its context, one JSON text a line. `system`: what the worker says about the attempt. */
export const LOG_STREAMS = ['stdout', 'stderr', 'log', 'system'] as const;
export type LogStream = (typeof LOG_STREAMS)[number];

/** Longer lines are cut into several by the worker. In bytes of UTF-8, after the cut: a receiver refuses more. */
export const MAX_LOG_LINE_BYTES = 16 * 1024;
/** Lines of one batch; its bytes are bounded by `MAX_BATCH_BYTES` and one line. */
export const MAX_LOG_BATCH_LINES = 10_000;
/** The size of one chunk of a bundle. */
export const BUNDLE_CHUNK_BYTES = 256 * 1024;

export interface LogLine {
  /** Milliseconds of the worker's clock. */
  readonly at: number;
  readonly stream: LogStream;
  /** Without its line break; never with a zero character. */
  readonly text: string;
}

/** Consecutive lines of one attempt. */
export interface LogPiece {
  readonly claim: Claim;
  /** Proves that the sender holds or held the claim. */
  readonly token: Buffer;
  /** Number of the first line; lines of an attempt are counted from 0 without a gap. */
  readonly firstLine: number;
  readonly lines: readonly LogLine[];
}

export interface LogBatch {
  /** Counts up from 1 on its stream; echoed when all of it is stored. */
  readonly no: number;
  readonly pieces: readonly LogPiece[];
}

/** The size of one chunk of an output, in both directions. */
export const OUTPUT_CHUNK_BYTES = 256 * 1024;

/** What an attempt asks for, by what its assignment says. */
export interface OutputRequest {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly id: string;
}

/** Sent before the bytes of an output that will be stored. */
export interface OutputHead {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly taskName: string;
}

export interface OutputPart {
  /** With the first part only. */
  readonly head: OutputHead | null;
  readonly json: Buffer;
}

export interface BundleChunk {
  readonly code: Buffer;
  readonly sourceMap: Buffer;
}

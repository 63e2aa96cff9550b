/**
 * The messages between a worker and a child process for functions, on two separate pipes: the length of the content (4
 * bytes), a kind (1), the number of the attempt in this child (4; 0 for none), the content. Plain bytes instead of Node's own
 * channel, because user code could write to that with `process.send`.
 */
import type { ReportedOutcome } from '@signalbox/protocol/grpc';
import type { GangMember, StopReason } from '@signalbox/sdk/handler';
import type { AttemptRequest } from '../attempt-requests.ts';
import type { Used } from '../result.ts';

/** To the child. */
export const INIT = 1;
export const RUN = 2;
export const STOP = 3;
export const ANSWER = 4;
export const SLOW = 5;
/** The attempt is not to begin, if it has not begun. Answered with `TAKEN_BACK` if so, and otherwise not at all. */
export const TAKE_BACK = 6;
/** What the last attempt printed has come: the next one may begin. */
export const GO_ON = 7;
/** From the child. */
export const READY = 11;
export const BROKEN = 12;
export const LOG = 13;
export const END = 14;
export const REQUEST = 15;
export const PROGRESS = 16;
export const TAKEN_BACK = 17;
/** The attempt has read that it is to stop, so its process is not stuck in a loop. */
export const HEARD_STOP = 18;
/** What the attempt prints, where several run at a time: one byte for the stream (1 or 2), then the text. */
export const PRINT = 19;
/** The attempt ends the process, by `process.exit()`. */
export const EXITING = 20;

/** The content of a `READY` whose bundle has printed something when it was loaded: end marks are on their way. */
export const PRINTED = 'printed';

/** The descriptors on the child's side. */
export const FROM_WORKER_FD = 3;
export const TO_WORKER_FD = 4;

/** To the child: an assignment has upstream outputs and params in it. */
const MAX_ORDER_BYTES = 512 * 1024 * 1024;
/** From the child: an end has an output and an error, each within its own limit, and as JSON may be several times as long. */
export const MAX_WORD_BYTES = 64 * 1024 * 1024;
export const HEAD_BYTES = 9;
const BYTES_PER_CHAR = 3;

export interface Init {
  readonly bundlePath: string;
  /** Printed when an attempt has ended that has printed something. */
  readonly endMark: string;
  /** How many attempts run at a time. */
  readonly concurrency: number;
}

export interface RunOrder {
  readonly functionName: string;
  readonly tenant: string;
  readonly dag: string;
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly fence: number;
  readonly effectKey: string;
  readonly token: string;
  /** JSON texts; empty for none. */
  readonly runInfo: string;
  readonly params: string;
  readonly upstream: readonly { readonly taskName: string; readonly output: string }[];
  /** Names of tasks whose outputs are large, and were not fetched. */
  readonly unfetched: readonly string[];
  readonly failedUpstream: readonly string[];
  /** Items are JSON texts. */
  readonly map: readonly { readonly group: string; readonly index: number; readonly item: string }[];
  /** Of a member of a gang. */
  readonly gang: GangMember | null;
  /** JSON text; empty for none. */
  readonly inputs: string;
  readonly secrets: readonly (readonly [string, string])[];
  /** JSON text that an earlier attempt has left; empty for none. */
  readonly checkpoint: string;
}

export interface ChildRequest {
  /** Counts up within an attempt. */
  readonly no: number;
  readonly request: AttemptRequest;
}

export interface ChildAnswer {
  readonly no: number;
  readonly ok: boolean;
  readonly leftMs: number;
  readonly error: { readonly reason: StopReason | null; readonly isPermanent: boolean; readonly message: string };
}

export interface StopOrder {
  readonly reason: StopReason;
  readonly message: string;
}

export interface AttemptEnd {
  readonly outcome: ReportedOutcome;
  readonly output: string;
  readonly error: string;
  readonly code: string;
  readonly retryAfterMs: number;
  readonly memoryBytes: number;
  /** Absent: not measured. */
  readonly used?: Used;
  /** Whether the end mark is on its way on both streams. */
  readonly hasPrinted: boolean;
  /** The child can't be used any more. */
  readonly isLeaving: boolean;
}

export function frame(kind: number, no: number, text: string): Buffer {
  const size = text === '' ? 0 : Buffer.byteLength(text);
  const bytes = headOf(kind, no, size);
  if (size > 0) bytes.write(text, HEAD_BYTES);
  return bytes;
}

/** The most bytes that a frame of so many characters may take. */
export const mostFrameBytes = (chars: number): number => HEAD_BYTES + BYTES_PER_CHAR * chars;

/** Into bytes that have room for it; answers where it ends. */
export function writeFrame(into: Buffer, at: number, kind: number, no: number, text: string): number {
  const size = text === '' ? 0 : into.write(text, at + HEAD_BYTES);
  into.writeUInt32LE(size, at);
  into[at + 4] = kind;
  into.writeUInt32LE(no, at + 5);
  return at + HEAD_BYTES + size;
}

export function bytesFrame(kind: number, no: number, content: Buffer): Buffer {
  const bytes = headOf(kind, no, content.length);
  content.copy(bytes, HEAD_BYTES);
  return bytes;
}

function headOf(kind: number, no: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + size);
  bytes.writeUInt32LE(size, 0);
  bytes[4] = kind;
  bytes.writeUInt32LE(no, 5);
  return bytes;
}

type OnFrame = (kind: number, no: number, content: Buffer) => void;

/** Puts frames together, however they were cut on the way. */
export class FrameReader {
  readonly #onFrame: OnFrame;
  readonly #mostBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(onFrame: OnFrame, mostBytes: number = MAX_ORDER_BYTES) {
    this.#onFrame = onFrame;
    this.#mostBytes = mostBytes;
  }

  /** False: this is no frame of ours, and nothing after it can be read. */
  push(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= HEAD_BYTES) {
      let [bytes] = this.#chunks as [Buffer];
      if (bytes.length < HEAD_BYTES) bytes = this.#join();
      const size = bytes.readUInt32LE(0);
      if (size > this.#mostBytes) return false;
      const end = HEAD_BYTES + size;
      if (this.#size < end) return true;
      if (bytes.length < end) bytes = this.#join();
      if (bytes.length === end) this.#chunks.shift();
      else this.#chunks[0] = bytes.subarray(end);
      this.#size -= end;
      this.#onFrame(bytes[4] as number, bytes.readUInt32LE(5), bytes.subarray(HEAD_BYTES, end));
    }
    return true;
  }

  #join(): Buffer {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    return bytes;
  }
}

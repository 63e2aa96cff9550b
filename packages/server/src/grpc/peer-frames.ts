/**
 * One direction of a link between nodes. Messages of one turn of the event loop are sent in one JSON frame, split when it
 * grows large. An empty frame only says that the sender is alive.
 */
import type { PeerMessage } from '@signalbox/host';
import { MAX_BATCH_BYTES, parseFrame } from '@signalbox/protocol/grpc';

/** What waits to be read by the other side before the link is given up: it is of no use to anybody then. */
const MOST_WAITING_BYTES = 256 * 1024 * 1024;

export class FrameWriter {
  readonly #write: (frame: Buffer, written: () => void) => void;
  readonly #onOverflow: () => void;
  #waiting: unknown[] = [];
  #bytesInFlight = 0;
  #isClosed = false;

  constructor(write: (frame: Buffer, written: () => void) => void, onOverflow: () => void) {
    this.#write = write;
    this.#onOverflow = onOverflow;
  }

  send(message: unknown): void {
    if (this.#isClosed) return;
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push(message);
  }

  ping(): void {
    if (!this.#isClosed) this.#frame([]);
  }

  close(): void {
    this.#flush();
    this.#isClosed = true;
  }

  #flush(): void {
    const messages = this.#waiting;
    this.#waiting = [];
    if (this.#isClosed || messages.length === 0) return;
    let texts: string[] = [];
    let size = 0;
    for (const text of messages.flatMap(textsOf)) {
      if (size > 0 && size + text.length > MAX_BATCH_BYTES) {
        this.#frame(texts);
        [texts, size] = [[], 0];
      }
      texts.push(text);
      size += text.length;
    }
    this.#frame(texts);
  }

  #frame(texts: readonly string[]): void {
    const frame = Buffer.from(`[${texts.join(',')}]`);
    this.#bytesInFlight += frame.length;
    if (this.#bytesInFlight > MOST_WAITING_BYTES) {
      this.#isClosed = true;
      this.#onOverflow();
      return;
    }
    this.#write(frame, () => {
      this.#bytesInFlight -= frame.length;
    });
  }
}

/** Assignments with large inputs go in several messages: a frame has a limit, and one that can't be sent helps nobody. */
function textsOf(message: unknown): string[] {
  const text = JSON.stringify(message);
  const { kind, assignments } = message as Partial<Extract<PeerMessage, { kind: 'assigned' }>>;
  if (text.length <= MAX_BATCH_BYTES || kind !== 'assigned' || assignments === undefined || assignments.length < 2) {
    return [text];
  }
  const half = assignments.length >> 1;
  return [assignments.slice(0, half), assignments.slice(half)].flatMap((part) =>
    textsOf({ ...(message as object), assignments: part }),
  );
}

/** The messages of a frame as it arrived. Throws when it is none. */
export function readFrame(input: unknown): readonly unknown[] {
  const messages: unknown = JSON.parse(parseFrame(input).toString());
  if (!Array.isArray(messages)) throw new Error('A frame of another node holds no list of messages.');
  return messages;
}

/**
 * Tells when the other side has gone without a word. It counts looks and not time: after a pause of our own process what
 * has arrived meanwhile is read before the next look.
 */
export class Watch {
  readonly #timer: NodeJS.Timeout;
  #silentLooks = 0;

  constructor({ everyMs, looks, onLook, onSilence }: WatchOptions) {
    this.#timer = setInterval(() => {
      onLook();
      this.#silentLooks += 1;
      if (this.#silentLooks > looks) onSilence();
    }, everyMs);
  }

  heard(): void {
    this.#silentLooks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

interface WatchOptions {
  readonly everyMs: number;
  readonly looks: number;
  readonly onLook: () => void;
  readonly onSilence: () => void;
}

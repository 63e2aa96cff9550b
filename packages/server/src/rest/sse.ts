/**
 * Server-sent events. A stream is pulled: nothing is read for a reader that does not take what it was sent, and one that
 * takes nothing for long is cut off. It ends when its credential does, and when the server closes (I68, I73).
 */
import { Readable } from 'node:stream';
import { SignalboxError } from '@signalbox/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RestParts } from './app.ts';
import { callerOf } from './guards.ts';

const MOST_STREAMS = 1_000;
/** Of one caller: the others find a place beside it. */
const MOST_OF_CALLER = 100;
export const STALLED_MS = 30_000;
const RECHECK_MS = 5_000;

/** The streams that are open, for the end of the server and for its metrics. */
export class OpenStreams {
  readonly #open = new Set<AbortController>();
  readonly #ofCallers = new Map<string, number>();

  get size(): number {
    return this.#open.size;
  }

  /** It has its place until it is aborted. */
  begin(caller: string): AbortController {
    if (this.#open.size >= MOST_STREAMS) throw new SignalboxError('OVERLOADED', { retryAfterMs: 5_000 });
    const ofCaller = this.#ofCallers.get(caller) ?? 0;
    if (ofCaller >= MOST_OF_CALLER) {
      throw new SignalboxError('RATE_LIMITED', { what: `streams at a time (${MOST_OF_CALLER})`, retryAfterMs: 5_000 });
    }
    const stream = new AbortController();
    this.#open.add(stream);
    this.#ofCallers.set(caller, ofCaller + 1);
    stream.signal.addEventListener('abort', () => this.#end(stream, caller), { once: true });
    return stream;
  }

  #end(stream: AbortController, caller: string): void {
    this.#open.delete(stream);
    const left = (this.#ofCallers.get(caller) ?? 1) - 1;
    if (left === 0) this.#ofCallers.delete(caller);
    else this.#ofCallers.set(caller, left);
  }

  endAll(): void {
    for (const stream of this.#open) stream.abort();
  }
}

export type StreamParts = Pick<RestParts, 'streams' | 'isStillValid'>;

export interface Frame {
  readonly id?: string;
  readonly event?: string;
  /** One line. */
  readonly data?: string;
  readonly comment?: string;
}

export function sseFrame({ id, event, data, comment }: Frame): string {
  let frame = comment === undefined ? '' : `: ${comment}\n`;
  if (id !== undefined) frame += `id: ${id}\n`;
  if (event !== undefined) frame += `event: ${event}\n`;
  if (data !== undefined) frame += `data: ${data}\n`;
  return `${frame}\n`;
}

/** Sends what `frames` yields, for as long as both sides want it. */
export function streamEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: StreamParts,
  frames: (signal: AbortSignal) => AsyncIterable<string>,
): FastifyReply {
  const stream = parts.streams.begin(callerOf(request).credential);
  const { signal } = stream;
  const body = Readable.from(
    withoutStalling(frames(signal), () => stream.abort()),
    { objectMode: false },
  );
  endWithCredential(request, parts, stream);
  signal.addEventListener('abort', () => body.destroy(), { once: true });
  body.once('close', () => stream.abort());
  body.once('error', (error) => request.log.warn({ error: String(error) }, 'A stream ended early.'));
  return reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(body);
}

/** A stream lasts no longer than the credential that began it. */
export function endWithCredential(
  request: FastifyRequest,
  { isStillValid }: StreamParts,
  stream: AbortController,
): void {
  const recheck = setInterval(() => {
    isStillValid(request).then(
      (isValid) => isValid || stream.abort(),
      () => undefined, // Nobody can say: what was believed a moment ago still is.
    );
  }, RECHECK_MS);
  stream.signal.addEventListener('abort', () => clearInterval(recheck), { once: true });
}

/** Whoever has taken nothing for a while is not waited for. */
async function* withoutStalling(frames: AsyncIterable<string>, cutOff: () => void): AsyncGenerator<Buffer, void> {
  for await (const frame of frames) {
    const timer = setTimeout(cutOff, STALLED_MS);
    try {
      yield Buffer.from(frame);
    } finally {
      clearTimeout(timer);
    }
  }
}

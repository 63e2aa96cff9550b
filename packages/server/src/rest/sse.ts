/**
 * Server-sent events. A stream is pulled: nothing is read for a reader that has not taken the last part, and a reader that
 * takes nothing for long is disconnected. A stream ends when its credential does, and when the server stops (I68, I73).
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export const STALLED_MS = 30_000;
const RECHECK_MS = 5_000;

type StreamParts = Pick<RestParts, 'streams' | 'isStillValid'>;

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
  // The body closes only when what it waits for has come. Its place is free at once.
  reply.raw.once('close', () => stream.abort());
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

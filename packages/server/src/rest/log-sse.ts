/**
 * Lines as server-sent events. Who does not read is waited for, who is gone is let go, and when the server ends so does the
 * stream: its client comes back with the id of the last event that it has.
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { endWithCredential, STALLED_MS, type StreamParts } from './sse.ts';

export interface SentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

const ALIVE_MS = 15_000;

export class EventStreams {
  readonly #parts: StreamParts;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** Sends what comes until there is no more. The first event is made before anything is sent: a refusal is still one of HTTP. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    events: (signal: AbortSignal) => AsyncGenerator<readonly SentEvent[], void>,
  ): Promise<FastifyReply> {
    const stop = this.#parts.streams.begin();
    endWithCredential(request, this.#parts, stop);
    const { raw } = reply;
    raw.on('close', () => stop.abort());
    const alive = setInterval(() => {
      if (raw.headersSent) raw.write(':\n\n');
    }, ALIVE_MS);
    try {
      const coming = events(stop.signal);
      const first = coming.next();
      // Nothing may come for long; who waits is told that it is listened to, unless there is a refusal at once.
      await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 200))]);
      reply.hijack();
      raw.writeHead(200, { ...headersOf(reply), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      raw.write(':\n\n');
      for (let next = await first; next.done !== true && !stop.signal.aborted; next = await coming.next()) {
        await write(raw, next.value.map(text).join(''), stop);
      }
    } catch (error) {
      if (!raw.headersSent) throw error;
      request.log.warn({ error: String(error) }, 'A stream of lines broke off.');
    } finally {
      clearInterval(alive);
      stop.abort();
      if (raw.headersSent) raw.end();
    }
    return reply;
  }
}

/** Whoever takes nothing for long is cut off. */
async function write(raw: FastifyReply['raw'], said: string, stop: AbortController): Promise<void> {
  if (said === '' || stop.signal.aborted || raw.write(said)) return;
  const timer = setTimeout(() => raw.destroy(), STALLED_MS);
  await new Promise<void>((resolve) => {
    raw.once('drain', resolve);
    stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearTimeout(timer);
}

/** Data is JSON, which has no line breaks of its own. */
function text({ id, event, data }: SentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
}

function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}

/**
 * Lines as server-sent events. Who does not read is waited for, who is gone is let go, and when the server ends so does the
 * stream: its client comes back with the id of the last event that it has.
 */

import { SignalboxError } from '@signalbox/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface SentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

const ALIVE_MS = 15_000;
const MOST_STREAMS = 1_000;

export class EventStreams {
  readonly #open = new Set<AbortController>();
  #isClosing = false;

  constructor(app: FastifyInstance) {
    app.addHook('preClose', async () => {
      this.#isClosing = true;
      for (const stream of this.#open) stream.abort();
    });
  }

  /** Sends what comes until there is no more. The first event is made before anything is sent: a refusal is still one of HTTP. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    events: (signal: AbortSignal) => AsyncGenerator<readonly SentEvent[], void>,
  ): Promise<FastifyReply> {
    if (this.#isClosing || this.#open.size >= MOST_STREAMS)
      throw new SignalboxError('OVERLOADED', { retryAfterMs: 1_000 });
    const stop = new AbortController();
    this.#open.add(stop);
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
        await write(raw, next.value.map(text).join(''), stop.signal);
      }
    } catch (error) {
      if (!raw.headersSent) throw error;
      request.log.warn({ error: String(error) }, 'A stream of lines broke off.');
    } finally {
      clearInterval(alive);
      this.#open.delete(stop);
      stop.abort();
      if (raw.headersSent) raw.end();
    }
    return reply;
  }
}

async function write(raw: FastifyReply['raw'], said: string, signal: AbortSignal): Promise<void> {
  if (said === '' || signal.aborted || raw.write(said)) return;
  await new Promise<void>((resolve) => {
    raw.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Data is JSON, which has no line breaks of its own. */
function text({ id, event, data }: SentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
}

function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}

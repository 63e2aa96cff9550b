/**
 * Reads server-sent events as they arrive. A stream that breaks, or is silent for too long, is opened again from the last
 * event that arrived, so nothing is missed. A permanent refusal ends it.
 */
import { SignalboxError } from '@signalbox/protocol/errors';
import { answeredOf, refusalOf, type Target, urlOf, waitFor } from './request.ts';

interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface Following {
  readonly path: string;
  /** Sent as `Last-Event-ID`; empty for none. */
  readonly lastId: string;
  readonly signal: AbortSignal | undefined;
}

/** The server sends something every 15 s, at least a sign of life. */
const SILENT_MS = 45_000;
const LONGEST_EVENT = 4 * 1024 * 1024;

/** Goes on until the caller stops, `isLast` holds, or the server can't be reached for the time of the retries. */
export async function* follow(
  target: Target,
  { path, lastId, signal }: Following,
  isLast: (event: ServerSentEvent) => boolean = () => false,
): AsyncGenerator<ServerSentEvent, void> {
  const { timing } = target;
  let [last, tries, heardAt] = [lastId, 0, timing.now()];
  for (;;) {
    try {
      for await (const heard of readOnce(target, path, last, signal)) {
        [tries, heardAt] = [0, timing.now()];
        for (const event of heard.events) {
          if (event.id !== '') last = event.id;
          yield event;
          if (isLast(event)) return;
        }
        // Also without an event the server says where we are.
        if (heard.lastId !== '') last = heard.lastId;
      }
      throw new SignalboxError('UNAVAILABLE', { reason: 'the stream broke off' });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof SignalboxError) || !error.retryable) throw error;
      tries += 1;
      const waitMs = waitFor(error, tries, timing);
      if (timing.now() + waitMs - heardAt > timing.retryForMs) throw error;
      await timing.sleep(waitMs, signal);
    }
  }
}

async function* readOnce(
  target: Target,
  path: string,
  lastId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly events: readonly ServerSentEvent[]; readonly lastId: string }, void> {
  const silence = new AbortController();
  const alarm = () => silence.abort(new SignalboxError('UNAVAILABLE', { reason: 'the server fell silent' }));
  // Passed on by hand: a signal that AbortSignal.any made may be collected before it fires (Node 20), and the stream stays.
  const stop = () => silence.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  let timer = setTimeout(alarm, target.timing.requestMs);
  try {
    const response = await (target.fetch ?? fetch)(urlOf(target, path), {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${target.token}`,
        ...(lastId === '' ? {} : { 'last-event-id': lastId }),
      },
      redirect: 'error',
      signal: silence.signal,
    });
    if (!response.ok) throw refusalOf(await answeredOf(response), { method: 'GET', path });
    const parser = new EventParser();
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(alarm, SILENT_MS);
      const events = parser.push(decoder.decode(chunk as Uint8Array, { stream: true }));
      yield { events, lastId: parser.lastId };
    }
  } catch (cause) {
    if (cause instanceof SignalboxError) throw cause;
    throw new SignalboxError('UNAVAILABLE', { reason: 'the stream broke off' }, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    silence.abort();
  }
}

/** Text in, whole events out. An event that never ends does not fill the memory. */
export class EventParser {
  #rest = '';
  #id = '';
  #lastId = '';
  #event = '';
  #data: string[] = [];
  #size = 0;

  /** Of the last whole block, with or without an event in it. */
  get lastId(): string {
    return this.#lastId;
  }

  push(text: string): ServerSentEvent[] {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      const event = this.#take(line);
      if (event !== null) events.push(event);
    }
    if (this.#size + this.#rest.length > LONGEST_EVENT) {
      throw new SignalboxError('INTERNAL', { incident: 'none: an event without an end' });
    }
    return events;
  }

  #take(line: string): ServerSentEvent | null {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    return null;
  }

  #finish(): ServerSentEvent | null {
    const event = { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
    this.#lastId = this.#id;
    const isEmpty = this.#data.length === 0;
    [this.#event, this.#data, this.#size] = ['', [], 0];
    return isEmpty ? null : event;
  }
}

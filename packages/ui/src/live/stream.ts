/**
 * One stream of server-sent events that outlives connections: it goes on after the last frame that it read, waits longer after
 * each failure, and gives up a connection on which nothing came for two heartbeats.
 */
import { type SseFrame, SseParser } from './sse.ts';

export type StreamState = 'connecting' | 'live' | 'broken';

interface StreamOptions {
  readonly path: string;
  onFrame(frame: SseFrame): void;
  onState(state: StreamState): void;
  /** The server no longer has what came after the last frame: everything must be read again. */
  onGap(): void;
  /** The last cursor, to go on from. */
  readonly from?: string;
  readonly fetch?: typeof fetch;
  readonly firstWaitMs?: number;
}

const LONGEST_WAIT_MS = 10_000;
/** The server says something every 15 s. */
const SILENT_MS = 35_000;
const EXPIRED = 410;

export class LiveStream {
  readonly #options: StreamOptions;
  readonly #stopped = new AbortController();
  #lastId: string | null;
  #waitMs: number;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#lastId = options.from ?? null;
    this.#waitMs = options.firstWaitMs ?? 500;
  }

  get cursor(): string | null {
    return this.#lastId;
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped;
    const firstWaitMs = this.#waitMs;
    while (!signal.aborted) {
      this.#options.onState('connecting');
      const hadFrames = await this.#readOnce(signal);
      if (signal.aborted) return;
      if (hadFrames) this.#waitMs = firstWaitMs;
      this.#options.onState('broken');
      await pause(this.#waitMs, signal);
      this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Whether anything came before the connection ended. */
  async #readOnce(stopped: AbortSignal): Promise<boolean> {
    const { path, fetch: ask = fetch } = this.#options;
    const silence = new AbortController();
    const signal = AbortSignal.any([stopped, silence.signal]);
    let timer = setTimeout(() => silence.abort(), SILENT_MS);
    let hadFrames = false;
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(this.#lastId === null ? {} : { 'last-event-id': this.#lastId }),
      };
      const response = await ask(path, { headers, signal });
      if (response.status === EXPIRED) {
        this.#lastId = null;
        this.#options.onGap();
        return true;
      }
      if (!response.ok || response.body === null) return false;
      this.#options.onState('live');
      const parser = new SseParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENT_MS);
        for (const frame of parser.push(piece.value)) {
          hadFrames = true;
          if (frame.id !== null) this.#lastId = frame.id;
          if (frame.data !== null) this.#options.onFrame(frame);
        }
      }
    } catch {
      // The connection is gone: the loop makes another.
    } finally {
      clearTimeout(timer);
    }
    return hadFrames;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

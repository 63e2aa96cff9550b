/**
 * The one stream for log lines. It is opened with the first line, and again whenever it is lost.
 *
 * `idle` (nothing to send yet, or no known address) → `up` → `waiting` (lost; the next one opens after a while) → `up` …,
 * until `closed`. A stream counts as up at once: what is written waits in it until it is connected.
 */
import { type Client, status } from '@grpc/grpc-js';
import { type LogBatch, type LogClientStream, openLogStream, parseLogStored } from '@signalbox/protocol/grpc';
import { type DataAccess, type DataPlace, dataClient, dataMetadata } from '../data-address.ts';

interface LogLinkListener {
  onUp(): void;
  onStored(no: number): void;
  /** `isRefusal`: the server did not want what was sent, rather than could not be reached. */
  onDown(isRefusal: boolean): void;
}

const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
const REFUSALS: ReadonlySet<number> = new Set([
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED,
]);

export class LogLink {
  readonly #access: DataAccess;
  readonly #listener: LogLinkListener;
  #place: DataPlace = 'unknown';
  #state: 'idle' | 'up' | 'waiting' | 'closed' = 'idle';
  #client: Client | null = null;
  #stream: LogClientStream | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failures = 0;
  #isWanted = false;

  constructor(access: DataAccess, listener: LogLinkListener) {
    this.#access = access;
    this.#listener = listener;
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  get place(): DataPlace {
    return this.#place;
  }

  /** Another node may take logs elsewhere; what the old one has not stored goes there. */
  move(place: DataPlace): void {
    const same =
      typeof place === 'object' && typeof this.#place === 'object'
        ? place.target === this.#place.target && place.tls === this.#place.tls
        : place === this.#place;
    if (same) return;
    this.#place = place;
    this.#failures = 0;
    if (this.#state === 'up') this.#lose(false);
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#state === 'waiting') this.#state = 'idle';
    if (this.#isWanted) this.want();
  }

  /** There is something to send. */
  want(): void {
    this.#isWanted = true;
    if (this.#state === 'idle' && typeof this.#place === 'object') this.#open(this.#place);
  }

  write(batch: LogBatch): void {
    this.#stream?.write(batch);
  }

  close(): void {
    const stream = this.#stream;
    const client = this.#client;
    this.#state = 'closed';
    this.#stream = null;
    this.#client = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    stream?.cancel();
    client?.close();
  }

  #open(place: Exclude<DataPlace, string>): void {
    this.#timer = null;
    this.#state = 'up';
    const client = dataClient(place, this.#access);
    const stream = openLogStream(client, dataMetadata(this.#access));
    this.#client = client;
    this.#stream = stream;
    const isCurrent = (): boolean => this.#stream === stream;
    stream.on('data', (input: unknown) => {
      if (!isCurrent()) return;
      this.#failures = 0;
      this.#listener.onStored(parseLogStored(input));
    });
    stream.on('error', (error: Error & { readonly code?: number }) => {
      if (isCurrent()) this.#lose(REFUSALS.has(error.code ?? -1));
    });
    stream.on('end', () => {
      if (isCurrent()) this.#lose(false);
    });
    this.#listener.onUp();
  }

  #lose(isRefusal: boolean): void {
    const stream = this.#stream;
    const client = this.#client;
    this.#stream = null;
    this.#client = null;
    this.#state = 'waiting';
    stream?.cancel();
    client?.close();
    const waitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(this.#failures++, 10));
    this.#timer = setTimeout(() => {
      this.#state = 'idle';
      this.want();
    }, waitMs);
    this.#timer.unref();
    this.#listener.onDown(isRefusal);
  }
}

/** Outputs that are too large for an assignment or a report. They are stored in and fetched from the data service of a node. */
import { type Client, type ServiceError, status } from '@grpc/grpc-js';
import { MAX_FETCHED_BYTES } from '@signalbox/protocol';
import {
  type Claim,
  OUTPUT_CHUNK_BYTES,
  type OutputPart,
  type OutputRef,
  openOutputFetch,
  openOutputStore,
  parseOutputChunk,
  parseStoredOutput,
  type UpstreamOutput,
} from '@signalbox/protocol/grpc';
import { PermanentError } from '@signalbox/sdk';
import { type DataAccess, type DataPlace, dataClient, dataMetadata } from '../data-address.ts';

/** The claim that asks, and the token that proves it. */
export interface AttemptRequester {
  readonly claim: Claim;
  readonly token: Buffer;
  readonly taskName: string;
}

interface OutputsTiming {
  /** How long a data service that does not answer is asked again. */
  readonly patienceMs: number;
  readonly retryMs: number;
}

const USUAL: OutputsTiming = { patienceMs: 60_000, retryMs: 500 };
const CALL_MS = 60_000;
/** Asking again would be answered the same. */
const FINAL: ReadonlySet<number | undefined> = new Set([
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.PERMISSION_DENIED,
  status.UNIMPLEMENTED,
  status.NOT_FOUND,
]);

export class Outputs {
  readonly #access: DataAccess;
  readonly #timing: OutputsTiming;
  place: DataPlace = 'unknown';

  constructor(access: DataAccess, timing: OutputsTiming = USUAL) {
    this.#access = access;
    this.#timing = timing;
  }

  /** Throws a `PermanentError` for what is too much for one attempt; other errors may be gone with the next one. */
  async fetch(
    requester: AttemptRequester,
    references: readonly OutputRef[],
    signal: AbortSignal,
  ): Promise<UpstreamOutput[]> {
    const fetched: UpstreamOutput[] = [];
    let left = MAX_FETCHED_BYTES;
    for (const { taskName, id, bytes } of references) {
      if (bytes > left) throw tooMuch(taskName);
      const output = await this.#patiently(signal, (client) =>
        this.#fetchOne(client, requester, { taskName, id, left, signal }),
      );
      left -= Buffer.byteLength(output);
      fetched.push({ taskName, output });
    }
    return fetched;
  }

  /** What goes into the report in place of the output. */
  store(requester: AttemptRequester, json: string, signal: AbortSignal): Promise<string> {
    return this.#patiently(signal, (client) => this.#storeOnce(client, requester, json));
  }

  /** A node that goes away is followed by another: what it was asked is asked there. */
  async #patiently<T>(signal: AbortSignal, act: (client: Client) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#timing.patienceMs;
    for (;;) {
      signal.throwIfAborted();
      const { place } = this;
      try {
        if (typeof place === 'string') throw new Error('the server has no data service');
        const client = dataClient(place, this.#access);
        try {
          return await act(client);
        } finally {
          client.close();
        }
      } catch (error) {
        if (error instanceof PermanentError) throw error;
        const { code } = error as Partial<ServiceError>;
        const text = error instanceof Error ? error.message : String(error);
        if (FINAL.has(code)) throw new PermanentError(`A large output could not be passed on: ${text}`);
        if (place === 'none' || performance.now() > until) {
          throw new Error(`A large output could not be passed on: ${text}.`, { cause: error });
        }
        await pause(this.#timing.retryMs, signal);
      }
    }
  }

  #fetchOne(
    client: Client,
    { claim, token }: AttemptRequester,
    { taskName, id, left, signal }: { taskName: string; id: string; left: number; signal: AbortSignal },
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const stream = openOutputFetch(client, { claim, token, id }, dataMetadata(this.#access));
      const chunks: Buffer[] = [];
      let size = 0;
      const give = (error: Error) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        stream.cancel();
        reject(error);
      };
      const abort = () => give(new Error('it was stopped'));
      let timer = setTimeout(late, CALL_MS);
      function late(): void {
        give(new Error(`nothing came within ${CALL_MS / 1_000} s`));
      }
      signal.addEventListener('abort', abort);
      stream.on('data', (input: unknown) => {
        clearTimeout(timer);
        timer = setTimeout(late, CALL_MS);
        try {
          const chunk = parseOutputChunk(input);
          size += chunk.length;
          if (size > left) throw tooMuch(taskName);
          chunks.push(chunk);
        } catch (error) {
          give(error as Error);
        }
      });
      stream.on('error', give);
      stream.on('end', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve(Buffer.concat(chunks).toString());
      });
    });
  }

  #storeOnce(client: Client, { claim, token, taskName }: AttemptRequester, json: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => stream.cancel(), CALL_MS);
      const stream = openOutputStore(client, dataMetadata(this.#access), (error, stored) => {
        clearTimeout(timer);
        try {
          if (error !== null) throw error;
          resolve(parseStoredOutput(stored));
        } catch (fault) {
          reject(fault);
        }
      });
      stream.on('error', () => undefined); // It is told to the callback.
      const bytes = Buffer.from(json);
      for (let at = 0; at < bytes.length; at += OUTPUT_CHUNK_BYTES) {
        const head: OutputPart['head'] = at === 0 ? { claim, token, taskName } : null;
        stream.write({ head, json: bytes.subarray(at, at + OUTPUT_CHUNK_BYTES) });
      }
      stream.end();
    });
  }
}

function tooMuch(taskName: string): PermanentError {
  return new PermanentError(
    `The outputs that this task is given, with that of ${taskName}, have more than ${MAX_FETCHED_BYTES} bytes. Let the tasks return less, or a place where the data is.`,
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

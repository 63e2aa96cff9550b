/** Fetches the bytes of a bundle from the data service of a node, and accepts them only if they have the requested hash. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { MAX_BUNDLE_BYTES } from '@signalbox/protocol';
import { openBundleFetch, parseBundleChunk } from '@signalbox/protocol/grpc';
import { PermanentError } from '@signalbox/sdk';
import { type DataAccess, type DataPlace, dataClient, dataMetadata } from '../data-address.ts';
import { hashOf } from './bundle-folder.ts';

const FETCH_MS = 30_000;
const MAX_SOURCE_MAP_BYTES = 64 * 1024 * 1024;

interface BundleName {
  /** Null for a worker that serves one tenant. */
  readonly tenant: string | null;
  readonly hash: string;
}

interface FetchedBundle {
  readonly code: Buffer;
  readonly sourceMap: Buffer;
}

/** Throws a `PermanentError` when the server says that there is none; any other error may be gone with the next attempt. */
export async function fetchBundle(
  { tenant, hash }: BundleName,
  place: DataPlace,
  access: DataAccess,
): Promise<FetchedBundle> {
  if (typeof place === 'string') {
    throw new Error(
      `Bundle ${short(hash)} can't be had: the server does not give out bundles (its data service is off).`,
    );
  }
  const client = dataClient(place, access);
  try {
    const fetched = await new Promise<FetchedBundle>((resolve, reject) => {
      const code = new Bytes('code', MAX_BUNDLE_BYTES);
      const sourceMap = new Bytes('source map', MAX_SOURCE_MAP_BYTES);
      const stream = openBundleFetch(client, hash, dataMetadata(access, tenant));
      const timer = setTimeout(() => stream.destroy(new Error(`no answer within ${FETCH_MS / 1000} s`)), FETCH_MS);
      stream.on('data', (input: unknown) => {
        try {
          const chunk = parseBundleChunk(input);
          code.add(chunk.code);
          sourceMap.add(chunk.sourceMap);
        } catch (error) {
          stream.cancel();
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      stream.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      stream.on('end', () => {
        clearTimeout(timer);
        resolve({ code: code.whole(), sourceMap: sourceMap.whole() });
      });
    });
    if (hashOf(fetched.code) !== hash) throw new Error('what came does not have its hash');
    return fetched;
  } catch (error) {
    if ((error as Partial<ServiceError>).code === status.NOT_FOUND) {
      throw new PermanentError(`The server does not have bundle ${short(hash)}. Deploy the dag again.`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Bundle ${short(hash)} could not be fetched from ${place.target}: ${reason}.`, { cause: error });
  } finally {
    client.close();
  }
}

class Bytes {
  readonly #what: string;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(what: string, limit: number) {
    this.#what = what;
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#size += chunk.length;
    if (this.#size > this.#limit) throw new Error(`its ${this.#what} has more than ${this.#limit} bytes`);
    this.#chunks.push(chunk);
  }

  whole(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

const short = (hash: string): string => hash.slice(0, 12);

/** Sends code to a worker in chunks, as fast as the worker takes them. */
import type { TenantId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import { BUNDLE_CHUNK_BYTES, type BundleServerStream, parseBundleRequest } from '@signalbox/protocol/grpc';
import { fromDatabase } from '../rest/errors.ts';
import type { BundleCache } from './bundle-cache.ts';
import { type CallGuard, callerIn, tenantIn } from './caller.ts';
import { refusalOf } from './refusal.ts';

export interface FetchBundlePorts extends CallGuard {
  readonly bundles: BundleCache;
  readonly findTenant: (name: string) => Promise<{ readonly tenantId: TenantId } | null>;
}

const TAKERS = { may: ['worker', 'admin'], action: 'fetch bundles' } as const;

export async function fetchBundle(stream: BundleServerStream, ports: FetchBundlePorts): Promise<void> {
  stream.on('error', () => undefined);
  try {
    const log = ports.logger as Parameters<typeof fromDatabase>[1];
    const caller = await callerIn(stream.metadata, ports, TAKERS);
    const findTenant = (name: string) => fromDatabase(() => ports.findTenant(name), log);
    const tenantId = await tenantIn(stream.metadata, caller, findTenant);
    const hash = parseBundleRequest(stream.request);
    const found = await fromDatabase(() => ports.bundles.get(tenantId, hash), log);
    if (found === null) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle: hash });
    for (const code of chunksOf(found.code)) await write(stream, { code });
    for (const sourceMap of chunksOf(found.sourceMap ?? Buffer.alloc(0))) await write(stream, { sourceMap });
    stream.end();
  } catch (error) {
    if (!stream.cancelled) stream.emit('error', refusalOf(error, ports.logger));
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += BUNDLE_CHUNK_BYTES) yield bytes.subarray(at, at + BUNDLE_CHUNK_BYTES);
}

async function write(stream: BundleServerStream, chunk: Parameters<BundleServerStream['write']>[0]): Promise<void> {
  if (stream.cancelled || stream.destroyed) throw new SignalboxError('UNAVAILABLE', { reason: 'the caller has gone' });
  if (stream.write(chunk)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close', 'cancelled']) stream.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'cancelled']) stream.on(event, done);
  });
}

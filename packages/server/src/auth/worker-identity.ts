/**
 * The identity of a worker. A worker chooses an id for its process and keeps it over all its streams; it can choose any. So
 * the id that the rest of the system uses is derived from that id, the tenant and the credential of the stream. No other
 * credential can be this worker, on any server, and no server has to ask another. A worker that reconnects with its
 * credential, here or elsewhere, is the same worker and still holds its claims (I17).
 */
import { createHash } from 'node:crypto';
import type { WorkerId } from '@signalbox/engine';
import type { Caller } from './bearer.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isWorkerOwnId(text: string): boolean {
  return UUID.test(text);
}

export function workerIdOf({ tenantId, credential }: Pick<Caller, 'tenantId' | 'credential'>, ownId: string): WorkerId {
  const hash = createHash('sha256').update(JSON.stringify(['worker', tenantId, credential, ownId]));
  const bytes = hash.digest().subarray(0, 16);
  // A UUID of version 8: of our own making.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return parts.join('-') as WorkerId;
}

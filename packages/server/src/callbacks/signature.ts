/**
 * Proves to a receiver that a callback is ours and unchanged: HMAC-SHA256 over the instant and the body. The secret is
 * derived from the key of the cluster and the tenant, and is stored nowhere else (I67).
 */
import { createHmac } from 'node:crypto';
import { derivedSecret } from '../auth/session.ts';

export const SIGNATURE_HEADER = 'signalbox-signature';

export function callbackSecret(clusterKey: Buffer, tenantId: number): string {
  return derivedSecret(clusterKey, ['callback', tenantId], 'sbxcb_');
}

/** `t=<seconds>,v1=<hex>`: the instant is signed too, so that an old call can be told from a new one. */
export function signatureOf(secret: string, atSeconds: number, body: string): string {
  const digest = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex');
  return `t=${atSeconds},v1=${digest}`;
}

/** The secrets of webhooks. Ours follow from the cluster's key and are stored nowhere; others are stored sealed (I67). */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { WebhookScheme } from '@signalbox/protocol';
import type { SecretRef } from '@signalbox/store';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Named {
  readonly id: string;
  readonly scheme: string;
}

export function secretOf(clusterKey: Buffer, webhook: Named, { generation, sealed }: SecretRef): string {
  if (sealed !== null) return unseal(clusterKey, webhook.id, sealed);
  const digest = createHmac('sha256', clusterKey)
    .update(JSON.stringify(['webhook', webhook.id, generation]))
    .digest();
  return formOf(webhook.scheme as WebhookScheme, digest);
}

/** As senders want it: Standard Webhooks has a prefix and Base64. */
function formOf(scheme: WebhookScheme, digest: Buffer): string {
  return scheme === 'standard' ? `whsec_${digest.toString('base64')}` : `sbxwh_${digest.toString('base64url')}`;
}

/** Nonce, tag and text. Bound to its webhook: moved to another row it does not open. */
export function seal(clusterKey: Buffer, id: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealKey(clusterKey), nonce).setAAD(Buffer.from(id));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function unseal(clusterKey: Buffer, id: string, sealed: Buffer): string {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, sealKey(clusterKey), nonce)
    .setAAD(Buffer.from(id))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}

const sealKey = (clusterKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', clusterKey, Buffer.alloc(0), 'signalbox webhook secrets', 32));

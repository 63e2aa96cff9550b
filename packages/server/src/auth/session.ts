/**
 * A browser session: a token with an expiry, in a cookie that scripts can't read and other sites can't send (D13). A
 * one-time link opens it.
 */
import { createHmac, randomBytes } from 'node:crypto';

export const SESSION_MS = 12 * 3_600_000;
export const LOGIN_CODE_MS = 15 * 60_000;
const COOKIE = 'signalbox_session';
const LONGEST_COOKIES = 4_096;

export function sessionCookie(token: string, isSecure: boolean): string {
  const age = Math.floor(SESSION_MS / 1000);
  return `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${isSecure ? '; Secure' : ''}`;
}

/** Has the browser forget its session. */
export function endedCookie(isSecure: boolean): string {
  return `${COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0${isSecure ? '; Secure' : ''}`;
}

/** The token of the session that a `Cookie` header names. */
export function sessionIn(header: string | undefined): string | null {
  if (header === undefined || header.length > LONGEST_COOKIES) return null;
  for (const pair of header.split(';')) {
    const [name, value] = pair.trim().split('=');
    if (name === COOKIE && value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value;
  }
  return null;
}

export function randomSecret(prefix = ''): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/**
 * A secret that a repeated request finds again, though it is stored nowhere (I11, I67): it follows from the cluster's key
 * and from what the request names.
 */
export function derivedSecret(clusterKey: Buffer, names: readonly (string | number)[], prefix = ''): string {
  const digest = createHmac('sha256', clusterKey)
    .update(JSON.stringify(['secret', ...names]))
    .digest('base64url');
  return `${prefix}${digest}`;
}

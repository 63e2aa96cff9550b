/** Admission: the host name that a request was sent to, the page that it comes from, and its credential (D13, I66). */
import { SignalboxError } from '@signalbox/protocol';
import type { FastifyRequest } from 'fastify';
import type { Bearers, Caller } from '../auth/bearer.ts';
import { networkOf } from '../auth/network.ts';
import type { TokenBuckets } from '../auth/rate.ts';
import { sessionIn } from '../auth/session.ts';
import { type BindAddress, isLoopback } from '../config.ts';
import { badRequest, fromDatabase } from './errors.ts';
import type { Operation } from './operations/index.ts';
import { refuseOthers } from './operators.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** Bound to these it may be called by any address of the machine; its names are then the user's to say. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

export class HostGuard {
  readonly #names: ReadonlySet<string>;

  constructor(bind: BindAddress, allowedHosts: readonly string[]) {
    const { host } = bind;
    const own = host.includes(':') ? `[${host}]` : host;
    const loopback = isLoopback(host) || ANY_ADDRESS.has(host) ? LOOPBACK_NAMES : [];
    this.#names = new Set([own.toLowerCase(), ...loopback, ...allowedHosts]);
  }

  /** A web page that has its name resolve to our address must not get in, nor one that simply posts to us. */
  check(request: FastifyRequest): void {
    const { host, origin } = request.headers;
    // Of two a proxy before us may have believed the other one.
    const hosts = request.raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
    if (hosts.length > 1) throw badRequest('host', 'must be given once');
    // To a proxy one sends whole addresses, and the name in there would count instead of the header's.
    if (!request.originalUrl.startsWith('/')) throw new SignalboxError('WRONG_HOST', { host: host ?? 'none' });
    if (host === undefined || !this.#isOurs(host)) throw new SignalboxError('WRONG_HOST', { host: host ?? 'none' });
    if (origin === undefined) return;
    const { protocol } = request;
    if (origin !== `${protocol}://${host}`) throw new SignalboxError('WRONG_HOST', { host });
  }

  #isOurs(host: string): boolean {
    return this.#names.has(host.toLowerCase().replace(/:\d{1,5}$/, ''));
  }
}

export interface Doors {
  readonly bearers: Bearers;
  /** Requests of one caller; null for as many as it likes. */
  readonly requests: TokenBuckets | null;
}

export async function authenticate(request: FastifyRequest, { bearers, requests }: Doors): Promise<void> {
  const { operation } = request.routeOptions.config;
  if (operation?.roles === 'anyone') return;
  const session = request.headers.authorization === undefined ? sessionIn(request.headers.cookie) : null;
  const caller = await identify(request, bearers, networkOf(request.ip));
  if (caller === null) throw new SignalboxError('UNAUTHENTICATED');
  if (session !== null) refuseOtherPages(request);
  const retryAfterMs = requests?.take(caller.credential) ?? 0;
  if (retryAfterMs > 0) throw new SignalboxError('RATE_LIMITED', { what: 'requests', retryAfterMs });
  request.caller = caller;
  // A route that is not there has no roles: whoever has a credential may hear so.
  if (operation !== undefined && !operation.roles.includes(caller.role)) {
    throw new SignalboxError('FORBIDDEN', { action: operation.action });
  }
  if (operation?.installation === true) refuseOthers(caller, operation.action);
  const isRead = request.method === 'GET' || request.method === 'HEAD' || operation?.isRead === true;
  const isFine = isRead || operation?.whileSuspended === true;
  if (caller.isSuspended && !isFine) throw new SignalboxError('TENANT_SUSPENDED', { tenant: caller.tenant });
}

/** Whom the header names, or else the cookie. */
function identify(request: FastifyRequest, bearers: Bearers, from: string | null): Promise<Caller | null> {
  const { authorization, cookie } = request.headers;
  const session = authorization === undefined ? sessionIn(cookie) : null;
  return fromDatabase(
    async () => (session === null ? bearers.identify(authorization, from) : bearers.identifyToken(session, from)),
    request.log,
  );
}

/** For answers that take long: whether the credential that began one would still be let in. */
export async function isStillValid(request: FastifyRequest, { bearers }: Doors): Promise<boolean> {
  const caller = await identify(request, bearers, null);
  const { operation } = request.routeOptions.config;
  return caller !== null && (operation === undefined || operation.roles.includes(caller.role));
}

/** Browsers send cookies by themselves: a change must also say that it comes from our own page. A wrong origin never gets here. */
function refuseOtherPages({ method, headers }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD') return;
  if (headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin') return;
  throw new SignalboxError('WRONG_HOST', { host: headers.host ?? 'none' });
}

/** Whoever asks; that its role may was seen at the door. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new SignalboxError('UNAUTHENTICATED');
  return caller;
}

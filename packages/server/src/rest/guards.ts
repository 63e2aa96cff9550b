/** Who may come in: the name it was sent to, the page it was sent from, the credential it carries (D13, I66). */
import { SignalboxError } from '@signalbox/protocol';
import type { FastifyRequest } from 'fastify';
import type { Bearers, Caller, Role } from '../auth/bearer.ts';
import { type BindAddress, isLoopback } from '../config.ts';
import { fromDatabase } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** Health says nothing but whether it is there, so that load balancers need no credential. */
const OPEN_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);
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
    if (host === undefined || !this.#isOurs(host)) throw new SignalboxError('WRONG_HOST', { host: host ?? 'none' });
    if (origin === undefined) return;
    const { protocol } = request;
    if (origin !== `${protocol}://${host}`) throw new SignalboxError('WRONG_HOST', { host });
  }

  #isOurs(host: string): boolean {
    return this.#names.has(host.toLowerCase().replace(/:\d{1,5}$/, ''));
  }
}

export async function authenticate(request: FastifyRequest, bearers: Bearers): Promise<void> {
  if (OPEN_ROUTES.has(request.routeOptions.url ?? '')) return;
  const { authorization } = request.headers;
  const caller = await fromDatabase(async () => bearers.identify(authorization), request.log);
  if (caller === null) throw new SignalboxError('UNAUTHENTICATED');
  request.caller = caller;
}

/** The caller, if its role may do this. */
export function callerOf(request: FastifyRequest, { may, action }: { may: readonly Role[]; action: string }): Caller {
  const { caller } = request;
  if (caller === null) throw new SignalboxError('UNAUTHENTICATED');
  if (!may.includes(caller.role)) throw new SignalboxError('FORBIDDEN', { action });
  return caller;
}

export const admins = (action: string) => ({ may: ['admin'] as const, action });

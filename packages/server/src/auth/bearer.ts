/**
 * Authenticates requests. A token is looked up by its SHA-256, so neither the database nor the duration of the lookup
 * reveals anything about it (I67). The result is cached for a few seconds: a token that was revoked or has expired works no
 * longer than that.
 */
import { createHash } from 'node:crypto';
import type { Actor, TenantId } from '@signalbox/engine';
import { ROLES, type Role, SignalboxError } from '@signalbox/protocol';
import type { ApiToken, WorkerLimits } from '@signalbox/store';
import { systemClock } from '../ports/clock.ts';
import { type RefusalLog, WrongCredentials } from './wrong-credentials.ts';

export type { Role } from '@signalbox/protocol';

export interface Caller {
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly role: Role;
  readonly actor: Actor;
  /** The hash of its token: one caller is told from another by it. */
  readonly credential: string;
  /** Its tenant is suspended: it reads, and changes nothing. */
  readonly isSuspended: boolean;
  readonly mayBeCritical: boolean;
  /** Number of the priority of dags that are deployed without one; null: normal. */
  readonly defaultPriority: number | null;
  /** What workers with this token may take. */
  readonly work: WorkerLimits;
}

interface TokenSource extends RefusalLog {
  findToken(sha256: Buffer): Promise<ApiToken | null>;
}

const BELIEVED_MS = 5_000;
const KEPT = 2_000;
/** Looks under way: who guesses tokens must not keep the database busy. */
const MOST_ASKING = 200;
const LONGEST_TOKEN = 512;

export class Bearers {
  readonly #source: TokenSource;
  readonly #known = new Map<string, { readonly caller: Caller | null; readonly until: number }>();
  readonly #asking = new Map<string, Promise<Caller | null>>();
  readonly #wrong: WrongCredentials;

  constructor(source: TokenSource) {
    this.#source = source;
    this.#wrong = new WrongCredentials(source, 'credential.refused');
  }

  /**
   * The caller whom an `Authorization` header names; null when it names nobody. Rejects when nobody can say. With the address that
   * it comes from, wrong ones are counted, and too many of them are refused as such.
   */
  async identify(header: string | undefined, from: string | null = null): Promise<Caller | null> {
    const token = bearerOf(header);
    return token === null ? null : this.identifyToken(token, from);
  }

  async identifyToken(token: string, from: string | null = null): Promise<Caller | null> {
    if (token.length > LONGEST_TOKEN) return null;
    const sha256 = hashOf(token);
    const name = sha256.toString('base64');
    const known = this.#known.get(name);
    if (known !== undefined && known.until > systemClock.mono()) return known.caller;
    const underWay = this.#asking.get(name);
    if (underWay !== undefined) return underWay;
    if (this.#asking.size >= MOST_ASKING) throw new SignalboxError('OVERLOADED', { retryAfterMs: 1_000 });
    const asking = this.#lookUp(name, sha256, from).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  /** One that is presented again and again is looked up every few seconds, and counted as often: it hears that it is wrong. */
  async #lookUp(name: string, sha256: Buffer, from: string | null): Promise<Caller | null> {
    if (from === null) return this.#ask(name, sha256);
    const caller = await this.#wrong.lookUp(from, () => this.#ask(name, sha256));
    if (caller === null) this.#wrong.count(from, sha256);
    return caller;
  }

  async #ask(name: string, sha256: Buffer): Promise<Caller | null> {
    const found = await this.#source.findToken(sha256);
    const caller = found === null ? null : callerOf(found, name);
    const believedMs = Math.min(BELIEVED_MS, found?.leftMs ?? BELIEVED_MS);
    remember(this.#known, name, { caller, until: systemClock.mono() + believedMs });
    return caller;
  }
}

function remember<T>(known: Map<string, T>, name: string, value: T): void {
  known.delete(name);
  known.set(name, value);
  const [oldest] = known.keys();
  if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header.length > LONGEST_TOKEN) return null;
  return /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1] ?? null;
}

function callerOf(token: ApiToken, credential: string): Caller | null {
  const { tenantId, tenant, name, role, queues, slots, serves } = token;
  if (!(ROLES as readonly string[]).includes(role)) return null;
  const { isSuspended, mayBeCritical, defaultPriority } = token;
  return {
    ...{ tenantId, tenant, role: role as Role, actor: `token:${name}` as Actor, credential },
    ...{ isSuspended, mayBeCritical, defaultPriority, work: { queues, slots, serves } },
  };
}

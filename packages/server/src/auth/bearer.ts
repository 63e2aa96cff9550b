/**
 * Who asks. A token is looked up by its SHA-256, so neither the database nor the time that a look takes tells anything of
 * it (I67). What was found is believed for a few seconds: a revoked token works for no longer than that.
 */
import { createHash } from 'node:crypto';
import type { Actor, TenantId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { ApiToken } from '@signalbox/store';

export type Role = 'admin' | 'worker';

export interface Caller {
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly role: Role;
  readonly actor: Actor;
}

export interface TokenSource {
  findToken(sha256: Buffer): Promise<ApiToken | null>;
}

const BELIEVED_MS = 5_000;
const KEPT = 2_000;
/** Looks under way: who guesses tokens must not keep the database busy. */
const MOST_ASKING = 200;
const LONGEST_TOKEN = 512;
const ROLES: readonly string[] = ['admin', 'worker'] satisfies Role[];

export class Bearers {
  readonly #source: TokenSource;
  readonly #known = new Map<string, { readonly caller: Caller | null; readonly until: number }>();
  readonly #asking = new Map<string, Promise<Caller | null>>();

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** The caller whom an `Authorization` header names; null when it names nobody. Rejects when nobody can say. */
  identify(header: string | undefined): Caller | null | Promise<Caller | null> {
    const token = bearerOf(header);
    if (token === null) return null;
    const sha256 = hashOf(token);
    const name = sha256.toString('base64');
    const known = this.#known.get(name);
    if (known !== undefined && known.until > performance.now()) return known.caller;
    if (this.#asking.size >= MOST_ASKING) throw new SignalboxError('OVERLOADED', { retryAfterMs: 1_000 });
    const asking = this.#asking.get(name) ?? this.#ask(name, sha256);
    this.#asking.set(name, asking);
    return asking;
  }

  async #ask(name: string, sha256: Buffer): Promise<Caller | null> {
    try {
      const found = await this.#source.findToken(sha256);
      const caller = found === null ? null : callerOf(found);
      this.#known.delete(name);
      this.#known.set(name, { caller, until: performance.now() + BELIEVED_MS });
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= KEPT) break;
        this.#known.delete(oldest);
      }
      return caller;
    } finally {
      this.#asking.delete(name);
    }
  }
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header.length > LONGEST_TOKEN) return null;
  return /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1] ?? null;
}

function callerOf({ tenantId, tenant, name, role }: ApiToken): Caller | null {
  if (!ROLES.includes(role)) return null;
  return { tenantId, tenant, role: role as Role, actor: `token:${name}` as Actor };
}

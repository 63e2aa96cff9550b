/**
 * Weights of tenants, which of them are suspended, what is frozen, and which caps and quotas there are. They are read from the database each second and told to the
 * engine of this node and to its gateway. While the database is away, what was read last holds.
 */
import type { Command, QuotaRule } from '@signalbox/engine';
import type { CapRule, Frozen, TenantRule } from '@signalbox/store';
import type { Clock, Log } from '../ports.ts';

interface TenantPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly readTenants: () => Promise<readonly TenantRule[]>;
  readonly readCaps: () => Promise<readonly CapRule[]>;
  readonly readFrozen: () => Promise<readonly Frozen[]>;
  readonly readQuotas: () => Promise<readonly QuotaRule[]>;
  readonly onFrozen: (frozen: readonly Frozen[]) => void;
  readonly tell: (command: Command) => void;
  readonly onRead: (tenants: readonly TenantRule[]) => void;
}

const EVERY_MS = 1_000;

export class Tenants {
  private readonly ports: TenantPorts;
  private known: readonly TenantRule[] = [];
  private knownText = '';
  private caps: readonly CapRule[] = [];
  private capsText = '[]';
  private frozen: readonly Frozen[] = [];
  private frozenText = '[]';
  private quotas: readonly QuotaRule[] = [];
  private quotasText = '[]';
  private cancel: (() => void) | null = null;
  private isStopped = false;

  constructor(ports: TenantPorts) {
    this.ports = ports;
  }

  async start(): Promise<void> {
    await this.runOnce();
    if (this.isStopped) return;
    this.cancel = this.ports.clock.after(EVERY_MS, () => void this.start());
  }

  stop(): void {
    this.isStopped = true;
    this.cancel?.();
  }

  async runOnce(): Promise<void> {
    let read: readonly TenantRule[];
    let caps: readonly CapRule[];
    let frozen: readonly Frozen[];
    let quotas: readonly QuotaRule[];
    try {
      const { readTenants, readCaps, readFrozen, readQuotas } = this.ports;
      [read, caps, frozen, quotas] = await Promise.all([readTenants(), readCaps(), readFrozen(), readQuotas()]);
    } catch (error) {
      this.ports.log('warn', 'Tenants could not be read.', { error: String(error) });
      return;
    }
    if (this.isStopped) return;
    const [text, capsText, frozenText, quotasText] = [read, caps, frozen, quotas].map((rules) =>
      JSON.stringify(rules),
    ) as [string, string, string, string];
    if (quotasText !== this.quotasText) {
      this.quotasText = quotasText;
      this.quotas = quotas;
      this.ports.tell({ kind: 'SetQuotas', quotas });
    }
    if (frozenText !== this.frozenText) {
      this.frozenText = frozenText;
      this.frozen = frozen;
      this.ports.onFrozen(frozen);
      this.ports.tell({ kind: 'SetFrozen', frozen });
    }
    if (text !== this.knownText) {
      this.knownText = text;
      this.known = read;
      this.ports.onRead(read);
      this.tellTenants();
    }
    if (capsText === this.capsText) return;
    this.capsText = capsText;
    this.caps = caps;
    this.tellCaps();
  }

  /** An engine that begins knows of no tenant. */
  tellEngine(): void {
    if (this.quotas.length > 0) this.ports.tell({ kind: 'SetQuotas', quotas: this.quotas });
    this.tellTenants();
    if (this.frozen.length > 0) this.ports.tell({ kind: 'SetFrozen', frozen: this.frozen });
    this.tellCaps();
  }

  private tellTenants(): void {
    if (this.known.length > 0) this.ports.tell({ kind: 'SetTenants', tenants: this.known });
  }

  private tellCaps(): void {
    if (this.caps.length > 0) this.ports.tell({ kind: 'SetLimits', limits: this.caps });
  }
}

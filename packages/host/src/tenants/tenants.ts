/**
 * Weights of tenants, which of them are suspended, what is frozen, which slots are kept, and which caps and quotas there are. They are read from the database each second and told to the
 * engine of this node and to its gateway. While the database is away, what was read last holds.
 */
import type { Command, KeptRule, QuotaRule } from '@signalbox/engine';
import type { CapRule, Frozen, TenantRule } from '@signalbox/store';
import type { Clock, Log } from '../ports.ts';

interface TenantPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly readTenants: () => Promise<readonly TenantRule[]>;
  readonly readCaps: () => Promise<readonly CapRule[]>;
  readonly readFrozen: () => Promise<readonly Frozen[]>;
  readonly readQuotas: () => Promise<readonly QuotaRule[]>;
  readonly readKept: () => Promise<readonly KeptRule[]>;
  readonly onKept: (kept: readonly KeptRule[], caps: readonly CapRule[]) => void;
  readonly onFrozen: (frozen: readonly Frozen[]) => void;
  readonly tell: (command: Command) => void;
  readonly onRead: (tenants: readonly TenantRule[]) => void;
}

const EVERY_MS = 1_000;
/** Until it was read for the first time nothing is scheduled here. */
const RETRY_MS = 200;

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

  /**
   * Resolves when all of it has been read once. A node that owned shards before it knows what is suspended, frozen or limited would
   * start what nobody may start, and create runs that no quota counts (I50).
   */
  async start(): Promise<void> {
    while (!this.isStopped && !(await this.runOnce())) await this.pause(RETRY_MS);
    void this.keepReading();
  }

  private async keepReading(): Promise<void> {
    for (;;) {
      await this.pause(EVERY_MS);
      if (this.isStopped) return;
      await this.runOnce();
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.cancel = this.ports.clock.after(ms, resolve);
    });
  }

  stop(): void {
    this.isStopped = true;
    this.cancel?.();
  }

  /** Whether the database answered. */
  async runOnce(): Promise<boolean> {
    let read: readonly TenantRule[];
    let caps: readonly CapRule[];
    let frozen: readonly Frozen[];
    let quotas: readonly QuotaRule[];
    let kept: readonly KeptRule[];
    try {
      const { readTenants, readCaps, readFrozen, readQuotas, readKept } = this.ports;
      const reading = [readTenants(), readCaps(), readFrozen(), readQuotas(), readKept()] as const;
      [read, caps, frozen, quotas, kept] = await Promise.all(reading);
    } catch (error) {
      this.ports.log('warn', 'Tenants could not be read.', { error: String(error) });
      return false;
    }
    if (this.isStopped) return true;
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
    if (capsText !== this.capsText) {
      this.capsText = capsText;
      this.caps = caps;
      this.tellCaps();
    }
    this.ports.onKept(kept, caps);
    return true;
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

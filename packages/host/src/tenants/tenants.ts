/**
 * Weights of tenants, and which of them are suspended. They are read from the database each second and told to the engine of this
 * node and to its gateway. While the database is away, what was read last holds.
 */
import type { Command } from '@signalbox/engine';
import type { TenantRule } from '@signalbox/store';
import type { Clock, Log } from '../ports.ts';

interface TenantPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly readTenants: () => Promise<readonly TenantRule[]>;
  readonly tell: (command: Command) => void;
  readonly onRead: (tenants: readonly TenantRule[]) => void;
}

const EVERY_MS = 1_000;

export class Tenants {
  private readonly ports: TenantPorts;
  private known: readonly TenantRule[] = [];
  private knownText = '';
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
    try {
      read = await this.ports.readTenants();
    } catch (error) {
      this.ports.log('warn', 'Tenants could not be read.', { error: String(error) });
      return;
    }
    const text = JSON.stringify(read);
    if (this.isStopped || text === this.knownText) return;
    this.knownText = text;
    this.known = read;
    this.ports.onRead(read);
    this.tellEngine();
  }

  /** An engine that begins knows of no tenant. */
  tellEngine(): void {
    if (this.known.length > 0) this.ports.tell({ kind: 'SetTenants', tenants: this.known });
  }
}

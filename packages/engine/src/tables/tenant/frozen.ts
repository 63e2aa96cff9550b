/** What is frozen: nothing of it begins. It comes from outside with `SetFrozen` and is known in memory only. */
import type { Frozen } from '../../model/command.ts';
import type { QueueName, TenantId } from '../../model/ids.ts';

export class FrozenTable {
  private isWhole = false;
  private readonly tenants = new Set<TenantId>();
  private readonly queues = new Set<string>();
  private readonly dags = new Set<string>();

  /** All that is frozen from now on. */
  set(frozen: readonly Frozen[]): void {
    this.isWhole = frozen.some(({ kind }) => kind === 'cluster');
    this.tenants.clear();
    this.queues.clear();
    this.dags.clear();
    for (const { tenantId, kind, name } of frozen) {
      if (kind === 'tenant') this.tenants.add(tenantId);
      if (kind === 'queue') this.queues.add(`${tenantId}/${name}`);
      if (kind === 'dag') this.dags.add(`${tenantId}/${name}`);
    }
  }

  holdsQueue(tenantId: TenantId, name: QueueName): boolean {
    return this.isWhole || this.tenants.has(tenantId) || this.queues.has(`${tenantId}/${name}`);
  }

  holdsDag({ tenantId, name }: { readonly tenantId: TenantId; readonly name: string }): boolean {
    return this.dags.has(`${tenantId}/${name}`);
  }
}

/** The dags in the working set, with the counts of their limits. A dag is loaded when a command or a live run needs it. */
import type { DagId, TenantId } from '../../model/ids.ts';
import type { Dag } from './dag.ts';

/** Dags without live runs are kept as a cache, up to this many. */
const IDLE_DAGS_KEPT = 20_000;

export class DagTable {
  readonly byId = new Map<DagId, Dag>();
  private readonly byName = new Map<string, Dag>();

  get(id: DagId): Dag | undefined {
    return this.byId.get(id);
  }

  named(tenantId: TenantId, name: string): Dag | undefined {
    return this.byName.get(`${tenantId}/${name}`);
  }

  add(dag: Dag): void {
    this.byId.set(dag.id, dag);
    this.byName.set(`${dag.tenantId}/${dag.name}`, dag);
  }

  remove(dag: Dag): void {
    this.byId.delete(dag.id);
    this.byName.delete(`${dag.tenantId}/${dag.name}`);
  }

  /** Forgets idle dags beyond the bound, those that came first. Only what is settled in the database may be forgotten. */
  trim(mayForget: (dag: Dag) => boolean, forget: (dag: Dag) => void): void {
    let excess = this.byId.size - IDLE_DAGS_KEPT;
    if (excess <= 0) return;
    for (const dag of this.byId.values()) {
      if (excess <= 0) return;
      if (dag.liveRuns > 0 || dag.activeRuns > 0 || !mayForget(dag)) continue;
      this.remove(dag);
      forget(dag);
      excess -= 1;
    }
  }
}

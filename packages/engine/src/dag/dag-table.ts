/** The dags in the working set, with what their limits count. One comes in when a command or a live run needs it. */
import type { Breaker } from '../breaker/breaker.ts';
import type { DagId, QueueName, RunId, ShardNo, TenantId, VersionNo } from '../ids.ts';
import type { Lane } from '../match/lane.ts';
import { NumberHeap } from '../timer/number-heap.ts';
import type { DagSpec } from './spec.ts';
import { Version } from './version.ts';

export class Dag {
  readonly shard: ShardNo;
  readonly id: DagId;
  readonly tenantId: TenantId;
  readonly tenant: string;
  readonly name: string;
  /** The version that new runs take; its limits are the dag's limits. */
  current: Version;
  readonly versions = new Map<VersionNo, Version>();
  /** Makes no new runs; those that live go on. */
  isRetired = false;
  /** Windows of schedules that it had are decided up to here. */
  windowsUntil = 0;
  /** Admitted live runs, loaded or not (I7). */
  activeRuns = 0;
  /** Live runs in memory. */
  liveRuns = 0;
  /** Those of them that tasks of other runs have made. */
  liveChildren = 0;
  /** Running attempts (I44). */
  runningTasks = 0;
  /** Runs that wait to be admitted, oldest first; entries may be out of date. */
  readonly waitingRuns = new NumberHeap<RunId>();
  /** The last batch that changed it: not forgotten before that one is settled. */
  touchedIn = 0;
  /** Its own breaker, while that holds or lets go: its lanes step aside as at a limit (I47). */
  gate: Breaker | null = null;
  readonly lanes = new Map<QueueName, (Lane | undefined)[]>();

  constructor(
    shard: ShardNo,
    id: DagId,
    tenantId: TenantId,
    tenant: string,
    name: string,
    no: VersionNo,
    hash: string,
    spec: DagSpec,
  ) {
    this.shard = shard;
    this.id = id;
    this.tenantId = tenantId;
    this.tenant = tenant;
    this.name = name;
    this.current = new Version(this, no, hash, spec);
    this.versions.set(no, this.current);
  }

  hasRoomForRun(): boolean {
    const limit = this.current.spec.maxActiveRuns;
    return limit === null || this.activeRuns < limit;
  }

  hasRoomForTask(): boolean {
    const limit = this.current.spec.maxActiveTasks;
    if (this.gate !== null && this.gate.allowance <= 0) return false;
    return limit === null || this.runningTasks < limit;
  }
}

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
  trim(mayForget: (dag: Dag) => boolean): void {
    let excess = this.byId.size - IDLE_DAGS_KEPT;
    if (excess <= 0) return;
    for (const dag of this.byId.values()) {
      if (excess <= 0) return;
      if (dag.liveRuns > 0 || dag.activeRuns > 0 || !mayForget(dag)) continue;
      this.remove(dag);
      excess -= 1;
    }
  }
}

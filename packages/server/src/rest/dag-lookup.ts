/**
 * Where dags are stored. Every submission asks, so it is cached for a while. A place that turns out to be wrong is looked up
 * again.
 */
import { createHash } from 'node:crypto';
import { type DagId, SHARD_COUNT, type ShardNo, type TenantId, type VersionNo } from '@signalbox/engine';
import type { ParamsSchema } from '@signalbox/protocol';
import type { Queries } from '@signalbox/store';

export interface DagPlace {
  readonly shard: ShardNo;
  readonly dagId: DagId;
  /** What its params must be, as of the version that was current when it was looked up; absent when nobody looked. */
  readonly params?: { readonly versionNo: VersionNo; readonly schema: ParamsSchema } | null;
}

const KEPT = 20_000;

export class DagLookup {
  readonly #queries: Queries;
  readonly #known = new Map<string, DagPlace>();

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  peek(tenantId: TenantId, name: string): DagPlace | undefined {
    return this.#known.get(`${tenantId}/${name}`);
  }

  async find(tenantId: TenantId, name: string): Promise<DagPlace | null> {
    const dag = await this.#queries.findDag(tenantId, name);
    if (dag === null) return null;
    const schema = dag.spec.paramsSchema as ParamsSchema | undefined;
    const params = schema === undefined ? null : { versionNo: dag.versionNo, schema };
    const place: DagPlace = { shard: dag.shard, dagId: dag.dagId, params };
    this.keep(tenantId, name, place);
    return place;
  }

  keep(tenantId: TenantId, name: string, place: DagPlace): void {
    const key = `${tenantId}/${name}`;
    this.#known.delete(key);
    this.#known.set(key, place);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest);
  }

  forget(tenantId: TenantId, name: string): void {
    this.#known.delete(`${tenantId}/${name}`);
  }
}

/** The first choice for a dag that is new; from then on its shard is stored (D2). */
export function firstShard(tenantId: TenantId, name: string): ShardNo {
  const digest = createHash('sha256').update(`${tenantId}/${name}`).digest();
  return (digest.readUInt32BE(0) % SHARD_COUNT) as ShardNo;
}

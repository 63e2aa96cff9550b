/** Turns a change of the journal into the event that users see. */
import type { DagId, Instant, RunId, ShardNo, TaskNo, TenantId } from '../ids.ts';
import type { ShowInstant } from './define.ts';
import { type Change, type ChangeEventKind, kindOf } from './kinds.ts';

export interface ToldChange {
  readonly kind: ChangeEventKind;
  readonly at: Instant;
  /** What it is about: a run, a dag, or something else of a tenant. */
  readonly about:
    | { readonly runId: RunId }
    | { readonly shard: ShardNo; readonly dagId: DagId }
    | { readonly tenantId: TenantId };
  readonly taskNo: TaskNo | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Fields that descriptions use for the same thing whatever their kind. */
interface Common {
  readonly at?: Instant;
  readonly endedAt?: Instant;
  readonly shard?: ShardNo;
  readonly tenantId?: TenantId;
  readonly dagId?: DagId;
  readonly runId?: RunId;
  readonly taskNo?: TaskNo | null;
}

/** Null: users are not told of it. */
export function tellChange(change: Change, show: ShowInstant): ToldChange | null {
  const event = kindOf(change).event(change, show);
  if (event === null) return null;
  const { at, endedAt, taskNo = null } = change as Common;
  return {
    kind: event.kind as ChangeEventKind,
    at: (at ?? endedAt) as Instant,
    about: aboutOf(change as Common),
    taskNo,
    details: event.details,
  };
}

function aboutOf({ shard, dagId, runId, tenantId }: Common): ToldChange['about'] {
  if (shard !== undefined && dagId !== undefined) return { shard, dagId };
  return runId === undefined ? { tenantId: tenantId as TenantId } : { runId };
}

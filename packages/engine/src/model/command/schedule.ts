/** Commands of users about schedules. Those of a definition come with its deploy. */
import type { NamedSchedule, ScheduleSpec } from '../dag/spec.ts';
import type { Actor, DagId, ShardNo, TenantId } from '../ids.ts';

interface OfDag {
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly actor: Actor;
}

/** All of them or none (I13). One that is there already, exactly so, is left as it is: a command sent again changes nothing. */
export interface CreateSchedules extends OfDag {
  readonly kind: 'CreateSchedules';
  readonly schedules: readonly NamedSchedule[];
}

export interface EditSchedule extends OfDag {
  readonly kind: 'EditSchedule';
  readonly name: string;
  readonly spec: ScheduleSpec;
}

export interface DeleteSchedule extends OfDag {
  readonly kind: 'DeleteSchedule';
  readonly name: string;
}

export interface SetSchedulePaused extends OfDag {
  readonly kind: 'SetSchedulePaused';
  /** All schedules of the dag unless told. */
  readonly name?: string;
  readonly paused: boolean;
}

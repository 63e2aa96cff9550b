/** What a window requires of other dags before its run may begin. */
import type { Instant } from '../ids.ts';

export const UNMET_POLICIES = ['skip', 'fail', 'run'] as const;
/** What becomes of a run whose requirements are not met in time: it is cancelled, it fails, or it runs and is told. */
type UnmetPolicy = (typeof UNMET_POLICIES)[number];

/** A run of this dag, of the same tenant, has succeeded: within a time, or for the same window. Exactly one of the two. */
export interface Requirement {
  readonly dag: string;
  readonly withinMs?: number;
  readonly window?: 'same';
}

export interface RequirementPolicy {
  readonly requires?: readonly Requirement[];
  /** `skip` unless told. */
  readonly unmet?: UnmetPolicy;
  /** How long a run waits for them; not at all unless told. */
  readonly waitMs?: number;
  /** How long after one look the next is; a few seconds unless told. */
  readonly lookMs?: number;
}

/** What a run waits for, as it was when its window fired. */
export interface RequiresNote {
  readonly of: readonly Requirement[];
  readonly unmet: UnmetPolicy;
  /** Then the policy applies. */
  readonly until: Instant;
  readonly lookMs?: number;
}

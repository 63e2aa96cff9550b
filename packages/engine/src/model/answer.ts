/** The answers to commands. */
import type { SlotsTold } from './command/limit.ts';
import type { DagId, RunUid, TaskNo, VersionNo } from './ids.ts';
import type { QuotaName } from './quota.ts';
import type { RunOutcome } from './run/phase.ts';
import type { TaskState } from './task/task-states.ts';

export type RefusalCode =
  | 'DAG_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'SCHEDULE_NOT_FOUND'
  | 'SCHEDULE_INVALID'
  | 'SCHEDULE_EXISTS'
  | 'SCHEDULE_OF_DEFINITION'
  | 'TOO_MANY_SCHEDULES'
  | 'IDEMPOTENCY_CONFLICT'
  | 'PARAMS_UNCHECKED'
  | 'RUN_KEY_TAKEN'
  | 'UNTIL_INVALID'
  | 'TASK_OUTSIDE_RUN'
  | 'TASK_NOT_FOUND'
  | 'TASK_NOT_RETRYABLE'
  | 'DEAD_LETTER_NOT_FOUND'
  | 'DEAD_LETTER_CLOSED'
  | 'BREAKER_NOT_FOUND'
  | 'BACKFILL_NOT_FOUND'
  | 'BACKFILL_ENDED'
  | 'BACKFILL_INVALID'
  | 'WINDOW_INVALID'
  | 'RUN_TIME_INVALID'
  | 'TASK_BUSY'
  | 'TASK_ENDED'
  | 'TOO_MANY_TASKS'
  | 'OUTPUT_INVALID'
  | 'RUN_CLOSING'
  | 'RUN_WOULD_CLOSE'
  | 'RUN_ENDED'
  | 'RUN_OF_BACKFILL'
  | 'RUN_SET_ASIDE'
  | 'STALE_TOKEN'
  | 'EXTEND_REFUSED'
  | 'ADD_REFUSED'
  /** It must be counted at the home of the tenant first; see `TakeQuota`. */
  | 'QUOTA_NEEDED'
  /** The detail is a `QuotaRefusal`. */
  | 'QUOTA_EXCEEDED'
  | 'QUOTA_NOT_FOUND'
  | 'LIMIT_OF_QUOTA'
  | 'NOT_OWNER';

/** Why a request is over quota, as JSON. */
export interface QuotaRefusal {
  readonly quota: QuotaName;
  readonly hard: number;
  readonly used: number;
  readonly retryAfterMs: number;
}

/** One task that a manual action has changed or would change. */
export interface TouchedTask {
  readonly taskNo: TaskNo;
  /** An instance of a map has the name of its task. */
  readonly name: string;
  readonly before: TaskState;
  readonly after: TaskState;
  /** `decided`: as a consequence of the tasks before it. */
  readonly how: 'cleared' | 'marked' | 'cancelled' | 'decided' | 'closes';
  /** The attempt that was stopped for it; 0 for none. */
  readonly stopped: number;
}

/** What a manual action has done or would do. */
export interface Touched {
  readonly ok: true;
  readonly kind: 'touched';
  readonly dryRun: boolean;
  /** It had ended, and is open again. */
  readonly reopened: boolean;
  readonly tasks: readonly TouchedTask[];
}

export type Answer =
  | {
      readonly ok: true;
      readonly kind: 'deployed';
      readonly dagId: DagId;
      readonly versionNo: VersionNo;
      readonly changed: boolean;
    }
  | {
      readonly ok: true;
      readonly kind: 'submitted';
      readonly uid: RunUid;
      readonly count: number;
      readonly repeated: boolean;
    }
  /** The run that the event will be in. */
  | { readonly ok: true; readonly kind: 'held'; readonly uid: RunUid }
  | { readonly ok: true; readonly kind: 'cancelled'; readonly outcome: RunOutcome }
  | { readonly ok: true; readonly kind: 'child'; readonly state: 'absent' | 'live' | 'ended' | 'full' }
  | { readonly ok: true; readonly kind: 'closed'; readonly count: number }
  | ({ readonly ok: true; readonly kind: 'slots' } & SlotsTold)
  | Touched
  | { readonly ok: true; readonly kind: 'done' }
  | { readonly ok: true; readonly kind: 'recorded' }
  /** How long the attempt has from now; null when nothing limits it. */
  | { readonly ok: true; readonly kind: 'extended'; readonly leftMs: number | null }
  | { readonly ok: false; readonly code: RefusalCode; readonly detail: string };

export const DONE: Answer = { ok: true, kind: 'done' };
export const RECORDED: Answer = { ok: true, kind: 'recorded' };

export function refuseOverQuota(refusal: QuotaRefusal): Answer {
  return refuse('QUOTA_EXCEEDED', JSON.stringify(refusal));
}

export function refuse(code: RefusalCode, detail = ''): Answer {
  return { ok: false, code, detail };
}

/**
 * Why a task went to its worker, and what the matcher knew at that moment. It is told beside an assignment, decides nothing, and is in no
 * commit: what was decided is the claim.
 */
import type { Priority } from './dag/spec.ts';
import type { QueueName, WorkerId } from './ids.ts';
import type { Amounts, Request } from './placement.ts';

/** `turn`: the next worker in turn. `placed`: the best of those with room. `speculative`: beside a slow attempt. `gang`: with all other members of its gang. */
export const DECISION_KINDS = ['turn', 'placed', 'speculative', 'gang'] as const;

/** `standing`: until recalled. `once`: for one decision, from a gateway that several servers share. `reserved`: kept for this task. */
export const LOAN_KINDS = ['standing', 'once', 'reserved'] as const;

/** No more of them are told. */
export const MOST_CANDIDATES = 8;

export interface Candidate {
  readonly workerId: WorkerId;
  /** The lower, the better; null where workers take turns. */
  readonly score: number | null;
  /** What was on loan of it, before this claim. */
  readonly slots: number;
  readonly room: Amounts;
}

/** A limit that had room for it. */
export interface LimitConsulted {
  /** `pool:database`, `queue:default`, `dag:etl task:load`, `rate of dag:etl`. */
  readonly limit: string;
  readonly takes: number;
  /** Before this claim. Of a limit over several shards: what the shard of the task had. */
  readonly free: number;
}

export interface ClaimDecision {
  readonly kind: (typeof DECISION_KINDS)[number];
  readonly priority: Priority | 'backfill';
  readonly queue: QueueName;
  /** What it asks of a worker. */
  readonly request: Request | null;
  /** Tasks of its tenant, queue, request and priority that could begin, this one included. */
  readonly waiting: number;
  /** Dags that they are of. */
  readonly dags: number;
  /** Tenants with tasks of this priority that wait for the same workers. */
  readonly tenants: number;
  /** Workers of the same kind that could have a free slot: those that have none any more may be counted. */
  readonly workers: number;
  /** Of those that were looked at, how many had room for it. */
  readonly fitting: number;
  /** The first is the one that it went to. */
  readonly candidates: readonly Candidate[];
  readonly limits: readonly LimitConsulted[];
  readonly loan: (typeof LOAN_KINDS)[number];
  /** The slot was lent in the same step: the task waited for it, and not the slot for a task. */
  readonly slotCameFree: boolean;
}

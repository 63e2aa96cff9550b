/** Commands between the shard of a task that runs another dag and the shard of that dag. */

import type { Priority } from '../dag/spec.ts';
import type { DagId, RunUid, ShardNo, TenantId, VersionNo } from '../ids.ts';
import type { RunOutcome } from '../run/phase.ts';
import type { ClaimRef } from './attempt.ts';

/** The call that a run was made by: a claim of its parent's task. Kept with the run for as long as that lives. */
export interface ParentRef extends ClaimRef {
  /** Of the parent run, and the name of its task: for people. */
  readonly uid: RunUid;
  readonly task: string;
  /** How many calls lie above the run: 1 for one whose parent has none. */
  readonly depth: number;
  /** The parent waits for its end. */
  readonly waits: boolean;
}

/** To the shard of the dag that a task runs: make that run, unless it is there. Its uid names the call (I11). */
export interface BeginChild {
  readonly kind: 'BeginChild';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly uid: RunUid;
  readonly parent: ParentRef;
  readonly params: string | null;
  /** The version whose schema the params were checked against; absent where it has none. */
  readonly checkedFor?: VersionNo;
  readonly priority: Priority;
}

/** To the same shard: asks for the state of the child run. If it has ended, its end is reported again. */
export interface AskChild {
  readonly kind: 'AskChild';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly uid: RunUid;
  readonly parent: ParentRef;
  readonly priority: Priority;
  /** Cancels the child run, with force or without. If it does not exist yet, it never will. */
  readonly stop: boolean;
  readonly force: boolean;
}

/**
 * What became of a call. `accepted`: the run is stored, and the task does not wait for it. `refused`: there will be no run,
 * for a reason that stays; `full`: there is none, for now. `unbegun`: it was stopped before there was one.
 */
export type CallEnd = RunOutcome | 'set_aside' | 'accepted' | 'refused' | 'full' | 'unbegun';

/** To the shard of the parent. With any claim but the one that waits it changes nothing (I21, I51). */
export interface ChildEnded {
  readonly kind: 'ChildEnded';
  readonly claim: ClaimRef;
  readonly end: CallEnd;
  readonly output: string | null;
  readonly error: string | null;
}

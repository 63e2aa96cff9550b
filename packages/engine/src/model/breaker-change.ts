import type { Actor, DagId, Instant, ShardNo, TenantId } from './ids.ts';
import type { Fingerprint } from './task/fingerprint.ts';

/**
 * A breaker opened, was tried, let go or closed. `fingerprint` null is the dag's own breaker, which holds its new tasks; that of
 * an error holds retries of tasks that failed with it.
 */
export interface BreakerSet {
  readonly kind: 'BreakerSet';
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly fingerprint: Fingerprint | null;
  /** `open`: only single probes go. `ramping`: what it held is let go, more each second. */
  readonly state: 'open' | 'ramping' | 'closed';
  /** From one probe to the next. */
  readonly pauseMs: number;
  /** Since when it has held anything back. */
  readonly openedAt: Instant;
  /** Of what failed: for people. Like other texts of users not in the journal. */
  readonly error: string | null;
  readonly actor: Actor;
  readonly at: Instant;
}

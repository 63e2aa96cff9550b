/**
 * Poison: a task that fails at once, again and again. More attempts cost slots and show nothing new, so it ends before its
 * retries are used up. An error that many tasks share is not poison: a breaker holds those tasks back.
 */
import type { PoisonPolicy } from '../../model/dag/spec.ts';
import type { QuickFailures } from '../../model/dead-letter.ts';
import type { AttemptSlot, Instant } from '../../model/ids.ts';
import type { AttemptOutcome } from '../../model/task/outcome.ts';
import type { State } from '../../tables/state.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';

/** The count after another attempt. An attempt that ran for a while, or failed for an outside reason, restarts the count. */
export function countQuick(
  state: State,
  attempt: AttemptSlot,
  outcome: AttemptOutcome,
  isShared: () => boolean,
): QuickFailures | null {
  const { attempts, tasks, now } = state;
  const slot = attempts.task[attempt]!;
  const policy = taskSpecOf(state, slot).poison;
  if (policy === undefined || !CAN_BE_POISON.has(outcome)) return null;
  const tookMs = now - attempts.claimedAt[attempt]!;
  if (isShared()) return null;
  // A clock that was set back says nothing about how long it took.
  if (tookMs < 0 || tookMs >= policy.underMs) return null;
  const count = tasks.quickCount[slot]!;
  const since = tasks.quickSince[slot] as Instant;
  const isInTime = count > 0 && now >= since && now - since < policy.withinMs;
  return isInTime ? { count: Math.min(count + 1, MOST_COUNTED), since } : { count: 1, since: now };
}

export function isPoison(policy: PoisonPolicy | undefined, quick: QuickFailures | null): boolean {
  return policy !== undefined && quick !== null && quick.count >= policy.count;
}

/** A column of bytes holds it. */
const MOST_COUNTED = 255;
/** The task's own doing. A timeout took its time, a lost worker is counted by its own budget (I28). */
const CAN_BE_POISON: ReadonlySet<AttemptOutcome> = new Set<AttemptOutcome>(['transient', 'resource']);

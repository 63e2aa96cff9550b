import type { RetryPolicy } from '../dag/spec.ts';

/** Full jitter between the minimum and the maximum for this attempt number; finite for every number (I40). */
export function backoffMs(policy: RetryPolicy, failureCount: number, chance: number): number {
  const grown = policy.baseMs === 0 ? 0 : policy.baseMs * policy.factor ** (failureCount - 1);
  const most = Math.max(policy.minMs, Math.min(policy.maxMs, Number.isFinite(grown) ? grown : policy.maxMs));
  return Math.round(policy.minMs + chance * (most - policy.minMs));
}

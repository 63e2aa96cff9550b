/**
 * Which new work a server refuses first when there is too much (I74). Each class may fill a share of what a server takes, so low
 * priority is refused first, then normal, then high. Critical is not refused, up to a bound that keeps memory. Accepted work,
 * heartbeats, reports and cancels are not asked here at all.
 */
import type { Command, Priority, State, TenantId } from '@signalbox/engine';

export const SHARES: Readonly<Record<Priority, number>> = { critical: 3, high: 1, normal: 0.8, low: 0.5 };
/** One tenant may have so much of the live runs of a server, if there are others. */
export const TENANT_SHARE = 0.5;
/** Live runs that a server keeps in memory; a million take less than 1.5 GiB. */
export const MOST_LIVE_RUNS = 2_000_000;

const ORDER: readonly Priority[] = ['critical', 'high', 'normal', 'low'];
const USUAL: Priority = 'normal';

/** The class of a submission is that of its least urgent run: one critical item must not carry a thousand others through. */
export function classOf(command: Command, state: State | null): Priority {
  if (command.kind !== 'SubmitRuns') return 'high';
  const own = state?.dags.get(command.dagId)?.current.spec.priority ?? USUAL;
  let last = 0;
  for (const { priority } of command.items) last = Math.max(last, ORDER.indexOf(priority ?? own));
  return ORDER[last] ?? USUAL;
}

interface Live {
  readonly runs: number;
  readonly tenants: number;
  of(tenantId: TenantId): number;
}

/** So many runs are live that another of this class is refused: of all tenants, or of its own. */
export function isTooDeep(command: Command, priority: Priority, live: Live, most: number): boolean {
  if (command.kind !== 'SubmitRuns' || priority === 'critical') return false;
  const share = most * SHARES[priority];
  if (live.runs + command.items.length > share) return true;
  return live.tenants > 1 && live.of(command.tenantId) + command.items.length > share * TENANT_SHARE;
}

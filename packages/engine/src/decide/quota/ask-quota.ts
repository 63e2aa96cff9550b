/**
 * What a dag's own shard asks of quotas before it creates runs or versions. Requests that are counted at the home of the tenant must
 * have been counted before; runs per day are counted here, because a dag never crosses a shard.
 */
import { type Answer, refuse, refuseOverQuota } from '../../model/answer.ts';
import type { TenantId } from '../../model/ids.ts';
import { type CountedQuota, failureCount, levelOf, QUOTA_LEVELS, runCount } from '../../model/quota.ts';
import type { Dag } from '../../tables/dag/dag.ts';
import { isOverRuns } from '../../tables/quota/run-quota.ts';
import type { Recorder } from '../recorder.ts';
import { countUnder, refusedBy } from './count.ts';

/** A tenant whose tasks fail too often is asked to come back after this. */
const FAILING_MS = 60_000;

/** Null: the request may go on. */
export function askQuota(
  { state }: Recorder,
  { tenantId, isCounted }: { readonly tenantId: TenantId; readonly isCounted?: true },
  quota: CountedQuota,
): Answer | null {
  if (!state.quotas.isUsed) return null;
  const failures = quota === 'submits' ? state.quotas.rule(tenantId, 'failures') : undefined;
  if (failures?.hard != null && failures.used >= failures.hard) {
    const { hard, used } = failures;
    return refuseOverQuota({ quota: 'failures', hard, used, retryAfterMs: FAILING_MS });
  }
  if (isCounted === true || state.quotas.rule(tenantId, quota) === undefined) return null;
  return refuse('QUOTA_NEEDED', quota);
}

/** Counts runs of a dag before they are created, or before somebody is told that they will be. Not null: it has too many today. */
export function takeRuns(recorder: Recorder, dag: Dag, count = 1): Answer | null {
  const { state } = recorder;
  const rule = state.quotas.rule(dag.tenantId, 'runs');
  if (rule === undefined || count === 0) return null;
  const { shard, tenantId, id: dagId } = dag;
  const { soft, hard } = rule;
  const limit = runCount(tenantId, dagId);
  const counter = state.quotas.counts.getOrAdd(shard, limit);
  const refused = refusedBy(recorder, counter, { quota: 'runs', hard, count });
  if (refused !== null) return refused;
  const { count: before } = counter;
  countUnder(recorder, { shard, limit, quota: 'runs', count });
  const used = before + count;
  const level = levelOf(used, rule);
  if (QUOTA_LEVELS.indexOf(level) > QUOTA_LEVELS.indexOf(levelOf(before, rule))) {
    recorder.record({ kind: 'DagQuotaPassed', shard, tenantId, dagId, level, used, soft, hard, at: state.now });
  }
  return null;
}

/** A run that nobody asked for by a request: it is not created when there are too many today. */
export function mayCreate(recorder: Recorder, dag: Dag): boolean {
  return !isOverRuns(recorder.state, dag) && takeRuns(recorder, dag) === null;
}

/** A task has failed for good. Counted where there is a budget of failures. */
export function countFailure(recorder: Recorder, { shard, tenantId }: Pick<Dag, 'shard' | 'tenantId'>): void {
  if (recorder.state.quotas.rule(tenantId, 'failures') === undefined) return;
  countUnder(recorder, { shard, limit: failureCount(tenantId, shard), quota: 'failures', count: 1 });
}

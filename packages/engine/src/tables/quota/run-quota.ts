/** Runs per dag and day, as far as they are counted. */
import { runCount } from '../../model/quota.ts';
import type { Dag } from '../dag/dag.ts';
import type { State } from '../state.ts';

type OfTenant = Pick<Dag, 'tenantId' | 'id'>;

/** It has as many as it may have in a day. */
export function isOverRuns(state: State, dag: OfTenant): boolean {
  const hard = state.quotas.rule(dag.tenantId, 'runs')?.hard ?? null;
  return hard !== null && state.quotas.counts.count(runCount(dag.tenantId, dag.id)) >= hard;
}

/** What a child is told of an attempt. */
import type { RunOrder } from '../child/frames.ts';
import type { Job } from './port.ts';

const NONE: readonly never[] = [];

export function orderOf(job: Job): RunOrder {
  const { assignment, work } = job;
  return {
    functionName: assignment.handler,
    tenant: assignment.tenant,
    dag: assignment.dag,
    run: assignment.run,
    task: assignment.taskName,
    attempt: assignment.claim.attempt,
    fence: assignment.claim.fence,
    effectKey: assignment.effectKey,
    token: assignment.token.toString('base64url'),
    runInfo: assignment.runInfo,
    params: assignment.params,
    upstream: assignment.upstream,
    unfetched: assignment.references.length === 0 ? NONE : assignment.references.map(({ taskName }) => taskName),
    failedUpstream: assignment.failedUpstream,
    map: assignment.map,
    gang: job.context.gang,
    inputs: work.shape.inputs === undefined ? '' : JSON.stringify(job.context.inputs),
    secrets: work.secrets.size === 0 ? NONE : [...work.secrets],
    checkpoint: assignment.checkpoint,
  };
}

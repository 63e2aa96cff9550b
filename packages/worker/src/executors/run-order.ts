/** What a child is told of an attempt. */
import type { RunOrder } from '../child/frames.ts';
import type { Job } from './port.ts';

export function orderOf({ assignment, work, context }: Job): RunOrder {
  return {
    functionName: assignment.handler,
    tenant: assignment.tenant,
    dag: assignment.dag,
    run: assignment.run,
    task: assignment.taskName,
    attempt: assignment.claim.attempt,
    fence: assignment.claim.fence,
    effectKey: assignment.effectKey,
    token: context.token,
    runInfo: assignment.runInfo,
    params: assignment.params,
    upstream: assignment.upstream,
    unfetched: assignment.references.map(({ taskName }) => taskName),
    failedUpstream: assignment.failedUpstream,
    map: assignment.map,
    inputs: work.shape.inputs === undefined ? '' : JSON.stringify(context.inputs),
    secrets: [...work.secrets],
    checkpoint: assignment.checkpoint,
  };
}

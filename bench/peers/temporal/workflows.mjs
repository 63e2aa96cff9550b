/** The smallest workflow with a task: one activity. Bundled by Temporal's worker, and run in its sandbox. */
import { proxyActivities } from '@temporalio/workflow';

const { noop } = proxyActivities({ startToCloseTimeout: '1 minute' });

export async function single() {
  await noop();
}

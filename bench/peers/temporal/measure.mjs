/**
 * Temporal in a process of its own, with the address of its server in PEER_URL: workflows of one activity. It has no call that starts many
 * workflows, so `many` keeps 100 calls in flight. `../flow.mjs` says what is measured.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { handled, measure } from '../flow.mjs';

const IN_FLIGHT = 100;
const QUEUE = 'noop';
const address = process.env.PEER_URL;
const settings = process.argv[2];

Runtime.install({ logger: new DefaultLogger('ERROR') });
const client = new Client({ connection: await Connection.connect({ address }) });
/** Best: more attempts and pollers at a time, as its guide on worker performance advises. */
const tuned =
  settings === 'best'
    ? {
        maxConcurrentActivityTaskExecutions: 500,
        maxConcurrentWorkflowTaskExecutions: 500,
        maxConcurrentActivityTaskPolls: 20,
        maxConcurrentWorkflowTaskPolls: 20,
      }
    : {};

const one = () => client.workflow.start('single', { taskQueue: QUEUE, workflowId: randomUUID() });

await measure({
  one,
  many: async (count) => {
    let left = count;
    const starter = async () => {
      while (left-- > 0) await one();
    };
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, count) }, starter));
  },
  start: async () => {
    const worker = await Worker.create({
      connection: await NativeConnection.connect({ address }),
      taskQueue: QUEUE,
      workflowsPath: fileURLToPath(new URL('workflows.mjs', import.meta.url)),
      activities: { noop: async () => handled() },
      ...tuned,
    });
    const ran = worker.run();
    return { worker, ran };
  },
  stop: async ({ worker, ran }) => {
    worker.shutdown();
    await ran;
  },
});

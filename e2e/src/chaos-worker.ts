/** A worker process for the kill tests. Its handlers take their time from the params and write down what they do. */
import { appendFileSync } from 'node:fs';
import type { HandlerContext } from '@signalbox/sdk';
import { startWorker } from '@signalbox/worker';

const witnessFile = process.env['WITNESS_FILE'] ?? '';
const name = process.env['WORKER_NAME'] ?? 'worker';

function witness(what: 'began' | 'ended', { run, task, attempt }: HandlerContext): void {
  appendFileSync(witnessFile, `${JSON.stringify({ what, run, task, attempt, worker: name, at: Date.now() })}\n`);
}

async function takeTime(context: HandlerContext): Promise<string> {
  witness('began', context);
  const { minMs = 0, maxMs = 0 } = (context.params ?? {}) as { minMs?: number; maxMs?: number };
  await new Promise((resolve) => {
    setTimeout(resolve, minMs + Math.random() * (maxMs - minMs));
  });
  witness('ended', context);
  return context.task;
}

const worker = startWorker({
  name,
  gateways: (process.env['GATEWAYS'] ?? '').split(','),
  token: process.env['SIGNALBOX_TOKEN'] ?? '',
  queues: ['default'],
  slots: Number(process.env['SLOTS'] ?? '600'),
  handlers: { takeTime },
});
process.on('SIGTERM', () => void worker.stop().then(() => process.exit(0)));

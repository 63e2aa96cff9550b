/** A worker with handlers that do nothing, or only look at the clock. All processes of a machine share that clock. */
import { appendFileSync } from 'node:fs';
import type { HandlerContext } from '@signalbox/sdk';
import { startWorker } from '@signalbox/worker';

const file = process.env['WITNESS_FILE'] ?? '';
const nowUs = () => Number(process.hrtime.bigint() / 1000n);

const worker = startWorker({
  gateways: (process.env['GATEWAYS'] ?? '').split(','),
  token: process.env['SIGNALBOX_TOKEN'] ?? '',
  queues: (process.env['QUEUES'] ?? 'default').split(','),
  slots: Number(process.env['SLOTS'] ?? '1000'),
  handlers: {
    noop: () => null,
    /** Something to map over. */
    list: ({ params }: HandlerContext) => Array.from({ length: (params as { count: number }).count }, (_, no) => no),
    /** Says when it began; whoever submitted it knows when that was. */
    stamp: ({ run }: HandlerContext) => {
      const atUs = nowUs();
      appendFileSync(file, `${JSON.stringify({ kind: 'start', run, atUs })}\n`);
      return null;
    },
    /** Leans on something that is back at a time that its params name. */
    lean: ({ params }: HandlerContext) => {
      const { dag, backAt } = params as { dag: string; backAt: number };
      const at = Date.now();
      const ok = at >= backAt;
      appendFileSync(file, `${JSON.stringify({ kind: 'try', dag, at, ok })}\n`);
      if (!ok) throw new Error('connect ECONNREFUSED 10.0.0.1:5432');
      return null;
    },
    /** Takes a slot for a while. */
    nap: () => new Promise((resolve) => setTimeout(() => resolve(null), 50)),
    sleep: () => new Promise((resolve) => setTimeout(() => resolve(null), 1_000)),
    first: () => ({ endedUs: nowUs() }),
    /** Says how long after the end of the task before it it began. */
    second: ({ upstream }: HandlerContext) => {
      const at = nowUs();
      const before = upstream['first'] as { endedUs: number };
      appendFileSync(file, `${JSON.stringify({ kind: 'next', us: at - before.endedUs })}\n`);
      return null;
    },
  },
});
process.on('SIGTERM', () => void worker.stop().then(() => process.exit(0)));

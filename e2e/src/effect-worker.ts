/**
 * A worker process whose tasks do something outside and die before they can report it: the first attempt of each kills its
 * worker, right after the effect.
 */
import { createOutbox, effectFetch, type HandlerContext, withOutbox } from '@signalbox/sdk';
import { startWorker } from '@signalbox/worker';
import pg from 'pg';

interface Place {
  readonly database: string;
  readonly url: string;
}

function dieOnce({ attempt }: HandlerContext): void {
  if (attempt === 1) process.kill(process.pid, 'SIGKILL');
}

async function pay(context: HandlerContext): Promise<unknown> {
  const client = new pg.Client({ connectionString: (context.params as Place).database });
  await client.connect();
  try {
    await createOutbox(client);
    const paid = await withOutbox(context, client, async (tx) => {
      const { rows } = await tx.query<{ id: number }>('insert into payment (attempt) values ($1) returning id', [
        context.attempt,
      ]);
      return rows[0];
    });
    dieOnce(context);
    return paid;
  } finally {
    await client.end();
  }
}

async function call(context: HandlerContext): Promise<unknown> {
  const { url } = context.params as Place;
  const response = await effectFetch(context, url, { method: 'POST', step: 'order', assertOwned: true });
  dieOnce(context);
  return response.json();
}

startWorker({
  name: process.env['WORKER_NAME'] ?? 'worker',
  gateways: (process.env['GATEWAYS'] ?? '').split(','),
  token: process.env['SIGNALBOX_TOKEN'] ?? '',
  queues: ['default'],
  slots: 1,
  handlers: { pay, call },
});

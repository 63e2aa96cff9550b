/** `signalbox workers drain` and `signalbox workers evict`. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../interrupt.ts';
import { print, printJson, short } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';

export interface DrainFlags extends ClientFlags {
  readonly wait: boolean;
  readonly timeout?: number;
}

const LOOK_MS = 250;

export async function drain(given: string, flags: DrainFlags, how: 'drain' | 'evict' = 'drain'): Promise<void> {
  const client = await connect(flags);
  const { id, name } = await findWorker(client, given);
  const answer = how === 'drain' ? await client.drainWorker(id) : await client.evictWorker(id);
  if (flags.wait) await untilGone(client, id, flags);
  if (process.exitCode === EXIT.interrupted) return;
  const does = how === 'drain' ? 'finishes its tasks' : 'stops its tasks';
  if (flags.json) printJson({ ...answer, left: flags.wait });
  else print(`${short(name)} ${flags.wait ? 'has left' : `takes no new tasks, ${does}, and leaves`}`);
}

export async function findWorker(client: Client, given: string): Promise<{ id: string; name: string }> {
  const { items } = await client.listWorkers();
  const found = items.filter(({ id, name }) => name === given || (given.length >= 4 && id.startsWith(given)));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const remedy = `List the workers: ${next('workers')}`;
  if (only === undefined) throw new CliError(`No worker ${short(given)} is connected.`, remedy, EXIT.refused);
  throw new CliError(`${found.length} workers are called ${short(given)}.`, `Pass the id. ${remedy}`, EXIT.refused);
}

async function untilGone(client: Client, id: string, { timeout }: DrainFlags): Promise<void> {
  const until = timeout === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeout;
  const { signal } = onInterrupt(() => {
    process.exitCode = EXIT.interrupted;
    print('the worker keeps draining');
  });
  while (!signal.aborted) {
    const { items, missing } = await client.listWorkers();
    // A server that gives no answer may be the one it is connected to.
    if (missing.length === 0 && !items.some((worker) => worker.id === id)) return;
    if (performance.now() > until) {
      throw new CliError(
        'The worker has not left in time. It keeps draining.',
        `See what it runs: ${next('workers')}`,
        EXIT.timedOut,
      );
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

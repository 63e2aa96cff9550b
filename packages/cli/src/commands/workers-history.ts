/** `signalbox workers history`. */
import type { WorkerEvent } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short, table } from '../output.ts';

export interface WorkerHistoryFlags extends ClientFlags {
  readonly kind?: WorkerEvent['kind'];
  readonly limit: number;
}

export async function listHistory(worker: string | undefined, flags: WorkerHistoryFlags): Promise<void> {
  const { kind, limit } = flags;
  const filter = { limit, ...(worker === undefined ? {} : { worker }), ...(kind === undefined ? {} : { kind }) };
  const page = await (await connect(flags)).listWorkerHistory(filter);
  if (flags.json) return printJson(page);
  if (page.items.length === 0)
    return print(worker === undefined ? 'nothing is known of any worker' : 'no such worker was here');
  const rows = page.items.map(({ at, name, worker: id, kind: what, message }) => [
    at,
    short(name, 40),
    id.slice(0, 8),
    what,
    short(message, 100),
  ]);
  print(table(['at', 'worker', 'id', 'event', 'what happened'], rows));
}

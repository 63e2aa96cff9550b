/** `signalbox freeze`, `thaw`, `freezes`, `workers cordon` and `workers uncordon`. */
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short, table } from '../output.ts';
import { findWorker } from './workers-drain.ts';

export interface FreezeFlags extends ClientFlags {
  readonly reason?: string;
}

export async function freeze(target: string, flags: FreezeFlags): Promise<void> {
  const { reason } = flags;
  const frozen = await (await connect(flags)).freeze(target, reason === undefined ? {} : { reason });
  if (flags.json) return printJson(frozen);
  print(`${short(target)} is frozen: within about a second none of its tasks start; running tasks finish`);
}

export async function thaw(target: string, flags: ClientFlags): Promise<void> {
  const thawed = await (await connect(flags)).thaw(target);
  if (flags.json) return printJson(thawed);
  print(`${short(target)} is thawed: waiting tasks start within about a second`);
}

export async function listFreezes(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listFreezes();
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('nothing is frozen');
  const rows = page.items.map(({ target, since, by, reason }) => [
    short(target),
    since,
    short(by),
    short(reason ?? ''),
  ]);
  print(table(['frozen', 'since', 'by', 'reason'], rows));
}

export async function cordon(given: string, flags: FreezeFlags): Promise<void> {
  const client = await connect(flags);
  const { id, name } = await findWorker(client, given);
  const { reason } = flags;
  const frozen = await client.freeze(`worker:${id}`, reason === undefined ? {} : { reason });
  if (flags.json) return printJson(frozen);
  print(`${short(name)} takes no new tasks and finishes what it runs`);
}

export async function uncordon(given: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const { id, name } = await findWorker(client, given);
  const thawed = await client.thaw(`worker:${id}`);
  if (flags.json) return printJson(thawed);
  print(`${short(name)} takes tasks again`);
}

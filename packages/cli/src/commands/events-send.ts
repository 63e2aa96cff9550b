/** `signalbox events send`. */
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short } from '../output.ts';
import { next } from '../program-name.ts';

export interface SendFlags extends ClientFlags {
  readonly payload?: unknown;
  readonly key?: string;
}

export async function send(name: string, flags: SendFlags): Promise<void> {
  const key = flags.key === undefined ? {} : { idempotencyKey: flags.key };
  const { runs } = await (await connect(flags)).signalEvent(name, flags.payload, key);
  if (flags.json) return printJson({ runs });
  if (runs.length === 0) return print(`no dag waits for ${short(name)}: none has "on: { event: ${short(name)} }"`);
  for (const { dag, id } of runs) print(`run ${id} of ${short(dag)}`);
  print(`follow one with: ${next(`runs watch ${runs[0]?.id}`)}`);
}

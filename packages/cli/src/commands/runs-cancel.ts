/** `signalbox runs cancel`. */
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, print, printJson } from '../output.ts';
import { resolveRun } from '../run-id.ts';
import { show } from './touch.ts';

export interface CancelFlags extends ClientFlags {
  readonly force?: boolean;
  readonly grace?: number;
  readonly dryRun?: boolean;
}

export async function cancel(given: string, flags: CancelFlags): Promise<void> {
  const client = await connect(flags);
  if (flags.dryRun) {
    const run = await resolveRun(client, given);
    return show(await client.previewCancel(run, { force: flags.force === true }), flags);
  }
  const cancelled = await client.cancelRun(await resolveRun(client, given), {
    force: flags.force === true,
    ...(flags.grace !== undefined && { graceMs: flags.grace }),
  });
  if (flags.json) return printJson(cancelled);
  const closing = cancelled.state === 'closing' ? ' and is closing' : '';
  print(`run ${cancelled.id} is ${coloured(cancelled.outcome ?? cancelled.state)}${closing}`);
}

/** `signalbox runs cancel`. */
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, print, printJson } from '../output.ts';
import { resolveRun } from '../run-id.ts';

export async function cancel(given: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const cancelled = await client.cancelRun(await resolveRun(client, given));
  if (flags.json) printJson(cancelled);
  else print(`run ${cancelled.id} is ${coloured(cancelled.outcome ?? cancelled.state)}`);
}

/** `signalbox runs cancel`. */
import { type ConnectionFlags, connect } from './connection.ts';
import { coloured, print, printJson } from './output.ts';

export async function cancel(id: string, flags: ConnectionFlags & { readonly json?: boolean }): Promise<void> {
  const cancelled = await (await connect(flags)).cancelRun(id);
  if (flags.json) printJson(cancelled);
  else print(`run ${id} is ${coloured(cancelled.outcome ?? cancelled.state)}`);
}

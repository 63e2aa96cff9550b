/** `signalbox blockers`. */
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short, table } from '../output.ts';

export async function listBlockers(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listBlockers();
  if (flags.json) return printJson(page);
  if (page.missing.length > 0) print(`no answer from ${page.missing.join(', ')}: what waits there is missing`);
  if (page.items.length === 0) return print('nothing waits');
  const rows = page.items.map(({ count, code, since, message, remedy }) => [
    `${count} ${code === 'run_queued' || code === 'run_key' ? 'runs' : 'tasks'}`,
    since,
    short(message),
    short(remedy),
  ]);
  print(table(['wait', 'since', 'because', 'what helps'], rows));
}

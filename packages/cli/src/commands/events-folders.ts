/** `signalbox events folders`. */
import { type ClientFlags, connect } from '../connection.ts';
import { colours, print, printJson, short, table } from '../output.ts';

export async function listFolders(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listFolders();
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('this server watches no folder: SIGNALBOX_WATCH_FOLDERS names none');
  const rows = page.items.map((one) => [
    short(one.name),
    short(one.path),
    String(one.files),
    one.lastFile === null ? '-' : `${short(one.lastFile)} ${one.lastFileAt ?? ''}`,
    one.problem === null ? (one.lookedAt ?? 'not yet') : colours.red(short(one.problem)),
  ]);
  print(table(['folder', 'path', 'files', 'last new file', 'looked at'], rows));
}

/** `signalbox dags windows`. */
import type { WindowView } from '@signalbox/protocol';
import { connect, type PageFlags } from '../connection.ts';
import { coloured, colours, print, printJson, table } from '../output.ts';

export async function listWindows(dag: string, flags: PageFlags): Promise<void> {
  const { limit, cursor } = flags;
  const client = await connect(flags);
  const [{ schedule }, page] = await Promise.all([
    client.getDag(dag),
    client.listWindows(dag, { limit, ...(cursor === undefined ? {} : { cursor }) }),
  ]);
  if (flags.json) return printJson({ next: schedule?.nextAt ?? null, paused: schedule?.paused ?? false, ...page });
  if (schedule === null) print('no schedule: this dag runs on demand');
  else if (schedule.paused) print(`${coloured('paused')}; it was ${schedule.fires} ${schedule.zone}`);
  else print(`next: ${schedule.nextAt ?? 'never'} (${schedule.fires} ${schedule.zone})`);
  if (page.items.length > 0) print(table(['planned', 'schedule', 'result', 'run'], page.items.map(rowOf)));
  if (page.cursor !== null) print(colours.dim(`next page: --cursor ${page.cursor}`));
}

function rowOf(window: WindowView): string[] {
  const many = window.count > 1 ? ` (${window.count}, until ${window.untilAt})` : '';
  const result = `${window.skipped === null ? 'run' : `skipped: ${window.skipped}`}${many}`;
  return [window.firesAt, window.schedule ?? '(removed)', result, window.run ?? ''];
}

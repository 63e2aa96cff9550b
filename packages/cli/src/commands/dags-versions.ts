/** `signalbox dags versions`. */
import { connect, type PageFlags } from '../connection.ts';
import { colours, print, printJson, short, table } from '../output.ts';

export async function listVersions(dag: string, flags: PageFlags): Promise<void> {
  const { limit, cursor } = flags;
  const page = await (await connect(flags)).listVersions(dag, { limit, ...(cursor === undefined ? {} : { cursor }) });
  if (flags.json) return printJson(page);
  const rows = page.items.map(({ version, current, deployedAt, actor, hash }) => [
    `${version}${current ? colours.green(' current') : ''}`,
    deployedAt,
    short(actor),
    hash.slice(0, 12),
  ]);
  print(table(['version', 'deployed', 'by', 'hash'], rows));
  if (page.cursor !== null) print(colours.dim(`next page: --cursor ${page.cursor}`));
}

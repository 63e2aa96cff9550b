/** `signalbox nodes`. */
import { counted } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { coloured, colours, print, printJson, short, table } from '../output.ts';

export async function listNodes(flags: ClientFlags): Promise<void> {
  const page = await (await connect(flags)).listNodes();
  if (flags.json) return printJson(page);
  const rows = page.items.map((node) => [
    node.id,
    short(node.address),
    short(node.dataAddress),
    short(node.version ?? 'unknown'),
    String(node.shards),
    node.unfit !== null ? colours.red('unfit') : node.leaving ? coloured('leaving') : 'serving',
  ]);
  print(table(['server', 'workers and servers at', 'services at', 'version', 'shards', 'state'], rows));
  for (const { id, unfit } of page.items) if (unfit !== null) print(colours.red(`${id} owns no shards: ${unfit}`));
  const versions = new Set(page.items.map(({ version }) => version ?? 'unknown'));
  if (versions.size > 1)
    print(colours.yellow(`servers run different versions: ${[...versions].map((one) => short(one)).join(', ')}`));
  if (page.unowned > 0)
    print(
      colours.yellow(
        `${counted(page.unowned, 'shard has', 'shards have')} no owner right now; a server takes ${page.unowned === 1 ? 'it' : 'them'} within seconds`,
      ),
    );
}

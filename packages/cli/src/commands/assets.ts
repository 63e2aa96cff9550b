/** `signalbox assets`. */
import type { AssetView } from '@signalbox/protocol';
import { type ClientFlags, connect, type PageFlags } from '../connection.ts';
import { colours, print, printJson, short, table } from '../output.ts';

export async function listAssets(flags: PageFlags): Promise<void> {
  const { limit, cursor } = flags;
  const page = await (await connect(flags)).listAssets({ limit, ...(cursor === undefined ? {} : { cursor }) });
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no assets: a task has them under produces');
  print(table(['asset', 'produced', 'by', 'dags that wait'], page.items.map(rowOf)));
  if (page.cursor !== null) print(colours.dim(`more: --cursor ${page.cursor}`));
}

export async function showAsset(name: string, flags: ClientFlags): Promise<void> {
  show(await (await connect(flags)).getAsset(name), flags);
}

export async function materializeAsset(name: string, flags: ClientFlags): Promise<void> {
  show(await (await connect(flags)).materializeAsset(name), flags);
}

function show(asset: AssetView, flags: ClientFlags): void {
  if (flags.json) return printJson(asset);
  const rows = [
    ['asset', short(asset.name)],
    ['produced', asset.producedAt ?? 'never'],
    ['by', byOf(asset)],
    ...(asset.run === null ? [] : [['run', asset.run]]),
    ['times', String(asset.count)],
    ...asset.consumers.map(({ dag, mode, assets }) => [
      'starts',
      `${short(dag)}: ${mode === 'any' ? 'when any' : 'when all'} of ${assets.map((name) => short(name)).join(', ')}`,
    ]),
  ];
  print(table(['', ''], rows));
}

function rowOf(asset: AssetView): string[] {
  const waiting = [...new Set(asset.consumers.map(({ dag }) => short(dag)))].join(', ');
  return [short(asset.name), asset.producedAt ?? 'never', byOf(asset), waiting];
}

function byOf({ dag, task, producedBy }: AssetView): string {
  if (dag !== null) return `${short(dag)}/${short(task ?? '')}`;
  return producedBy === null ? '' : short(producedBy);
}

/** Assets. */
import type { ClientFlags, PageFlags } from '../connection.ts';
import { clientFlags, define, pageFlags } from '../define.ts';

const named = [{ name: 'asset', what: 'its name' }];

export const assetCommands = [
  define<PageFlags>({
    name: 'assets list',
    summary: 'list assets: when each was produced, by what, and which dags wait for it',
    isDefault: true,
    flags: [...pageFlags, ...clientFlags],
    examples: [['signalbox assets', 'one line each']],
    run: async (_, flags) => (await import('../commands/assets.ts')).listAssets(flags),
  }),
  define<ClientFlags>({
    name: 'assets show',
    summary: 'show an asset, the run that produced it, and the dags that wait for it',
    arguments: named,
    flags: clientFlags,
    examples: [['signalbox assets show orders', 'one asset']],
    run: async ([asset = ''], flags) => (await import('../commands/assets.ts')).showAsset(asset, flags),
  }),
  define<ClientFlags>({
    name: 'assets materialize',
    summary: 'say that an asset is fresh, as if a task had produced it',
    arguments: named,
    flags: clientFlags,
    examples: [['signalbox assets materialize orders', 'starts the dags that wait for it']],
    run: async ([asset = ''], flags) => (await import('../commands/assets.ts')).materializeAsset(asset, flags),
  }),
];

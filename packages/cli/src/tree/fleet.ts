/** Workers and servers. */
import type { DrainFlags } from '../commands/workers-drain.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, span } from '../define.ts';

export const fleetCommands = [
  define<ClientFlags>({
    name: 'workers list',
    summary: 'the workers that are connected, to whichever server',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox workers', 'their queues, slots, and what they run']],
    run: async (_, flags) => (await import('../commands/workers-list.ts')).listWorkers(flags),
  }),
  define<DrainFlags>({
    name: 'workers drain',
    summary: 'let a worker finish what it has, and leave',
    details: 'Waits until it has left; --no-wait does not.',
    arguments: [{ name: 'worker', what: 'its id or name, or the beginning of its id' }],
    flags: [
      { flags: '--no-wait', what: 'only tell it' },
      {
        flags: '--timeout <span>',
        what: 'stop waiting after 30s, 5m … with exit code 124; it goes on draining',
        read: span,
      },
      ...clientFlags,
    ],
    examples: [['signalbox workers drain box-7:4711 --timeout 10m', 'before the machine is taken down']],
    run: async ([worker = ''], flags) => (await import('../commands/workers-drain.ts')).drain(worker, flags),
  }),
  define<ClientFlags>({
    name: 'nodes',
    summary: 'the servers of the cluster, and which shards they own',
    flags: clientFlags,
    examples: [['signalbox nodes', 'one line each']],
    run: async (_, flags) => (await import('../commands/nodes.ts')).listNodes(flags),
  }),
];

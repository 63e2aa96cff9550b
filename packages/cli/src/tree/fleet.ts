/** Workers and servers. */
import { WORKER_EVENTS } from '@signalbox/protocol/words';
import type { ScaleInFlags } from '../commands/queues-scale-in.ts';
import type { SettingsFlags } from '../commands/settings.ts';
import type { DrainFlags } from '../commands/workers-drain.ts';
import type { WorkerHistoryFlags } from '../commands/workers-history.ts';
import type { ClientFlags } from '../connection.ts';
import { clientFlags, define, oneOf, span, wholeNumber, wholeNumberOrZero } from '../define.ts';

export const fleetCommands = [
  define<ClientFlags>({
    name: 'workers list',
    summary: 'list connected workers, on all servers',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox workers', 'their queues, slots, and running tasks']],
    run: async (_, flags) => (await import('../commands/workers-list.ts')).listWorkers(flags),
  }),
  define<WorkerHistoryFlags>({
    name: 'workers history',
    summary: 'list when workers came and went, and what was done to them',
    details: 'Newest first; also of workers that are gone. Kept as long as runs.',
    arguments: [{ name: 'worker', what: 'its id, the beginning of its id, or its name', isOptional: true }],
    flags: [
      { flags: '--kind <kind>', what: WORKER_EVENTS.join(', '), read: oneOf(WORKER_EVENTS) },
      { flags: '--limit <count>', what: 'how many', read: wholeNumber, usual: 50 },
      ...clientFlags,
    ],
    examples: [
      ['signalbox workers history', 'of all workers'],
      ['signalbox workers history box-7:4711', 'why is it gone?'],
      ['signalbox workers history --kind lost', 'workers that fell silent'],
    ],
    run: async ([worker], flags) => (await import('../commands/workers-history.ts')).listHistory(worker, flags),
  }),
  define<DrainFlags>({
    name: 'workers drain',
    summary: 'let a worker finish its tasks and leave',
    details: 'Waits until the worker has left. Use --no-wait to return at once.',
    arguments: [{ name: 'worker', what: 'its id, the beginning of its id, or its name' }],
    flags: [
      { flags: '--no-wait', what: 'return at once' },
      {
        flags: '--timeout <span>',
        what: 'stop waiting after 30s, 5m … with exit code 124; the worker keeps draining',
        read: span,
      },
      ...clientFlags,
    ],
    examples: [['signalbox workers drain box-7:4711 --timeout 10m', 'before you shut down the machine']],
    run: async ([worker = ''], flags) => (await import('../commands/workers-drain.ts')).drain(worker, flags),
  }),
  define<DrainFlags>({
    name: 'workers evict',
    summary: 'stop the tasks of a worker and let it leave: they run again elsewhere, and spend no retry',
    details:
      'For a machine that is about to be taken away. Tasks have 20 s to save a checkpoint. Waits until the worker has left. SIGUSR2 to the worker does the same.',
    arguments: [{ name: 'worker', what: 'its id, the beginning of its id, or its name' }],
    flags: [
      { flags: '--no-wait', what: 'return at once' },
      { flags: '--timeout <span>', what: 'stop waiting after 30s, 5m … with exit code 124', read: span },
      ...clientFlags,
    ],
    examples: [['signalbox workers evict spot-3:4711 --no-wait', 'from the handler of an eviction notice']],
    run: async ([worker = ''], flags) => (await import('../commands/workers-drain.ts')).drain(worker, flags, 'evict'),
  }),
  define<ClientFlags>({
    name: 'queues list',
    summary: 'list queues: what waits and runs, and how many workers each wants',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox queues', 'one line each']],
    run: async (_, flags) => (await import('../commands/queues-list.ts')).listQueues(flags),
  }),
  define<ScaleInFlags>({
    name: 'queues scale-in',
    summary: 'drain workers of a queue until so many are left, the least busy first',
    details: 'Drained workers finish their tasks and leave. A worker that serves several queues leaves all of them.',
    arguments: [{ name: 'queue', what: 'its name' }],
    flags: [
      { flags: '--to <count>', what: 'how many workers stay', isRequired: true, read: wholeNumberOrZero },
      ...clientFlags,
    ],
    examples: [['signalbox queues scale-in batch --to 2', 'after the nightly load']],
    run: async ([queue = ''], flags) => (await import('../commands/queues-scale-in.ts')).scaleIn(queue, flags),
  }),
  define<ClientFlags>({
    name: 'nodes',
    summary: 'list the servers of the cluster and how many shards they own',
    flags: clientFlags,
    examples: [['signalbox nodes', 'one line each']],
    run: async (_, flags) => (await import('../commands/nodes.ts')).listNodes(flags),
  }),
  define<ClientFlags>({
    name: 'zones show',
    summary: 'show the version of the time zone data of the cluster and of each server',
    details: 'All servers decide by the data of the cluster, whatever their own runtime has.',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox zones', 'and the zones that schedules use']],
    run: async (_, flags) => (await import('../commands/zones.ts')).showZones(flags),
  }),
  define<ClientFlags>({
    name: 'zones upgrade',
    summary: 'raise the time zone data of the cluster to that of the server',
    details:
      'Do this after you have updated Node.js on all servers. Schedules use the new data within seconds; times that were decided stay as they are. The audit records it.',
    flags: clientFlags,
    examples: [['signalbox zones upgrade', 'after an update of Node.js']],
    run: async (_, flags) => (await import('../commands/zones.ts')).upgradeZones(flags),
  }),
  define<ClientFlags>({
    name: 'settings show',
    summary: 'show the settings of the cluster',
    isDefault: true,
    flags: clientFlags,
    examples: [['signalbox settings', 'the jitter of schedules that name none']],
    run: async (_, flags) => (await import('../commands/settings.ts')).showSettings(flags),
  }),
  define<SettingsFlags>({
    name: 'settings set',
    summary: 'change a setting of the cluster',
    details: 'Servers use it within seconds. No window fires twice by it. The audit records who did it.',
    flags: [
      { flags: '--jitter <span>', what: 'how late schedules that name no jitter may fire, such as 5m; 0 for on time' },
      ...clientFlags,
    ],
    examples: [['signalbox settings set --jitter 5m', 'spread all schedules that name no jitter over 5 minutes']],
    run: async (_, flags) => (await import('../commands/settings.ts')).changeSettings(flags),
  }),
];

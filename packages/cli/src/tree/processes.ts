/** What runs until it is told to stop. */
import type { ServerFlags } from '../commands/server.ts';
import type { WorkerFlags } from '../commands/worker.ts';
import { define, type FlagDefinition, oneOf, wholeNumber } from '../define.ts';
import type { StartFlags } from '../start/start-flags.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

const serverFlags: readonly FlagDefinition[] = [
  {
    flags: '--http <address>',
    what: 'where the API listens (SIGNALBOX_HTTP, else 127.0.0.1:4500); port 0 for any free one',
  },
  { flags: '--grpc <address>', what: 'where workers and other servers connect (SIGNALBOX_GRPC, else 127.0.0.1:4501)' },
  {
    flags: '--services <address>',
    what: 'where the gRPC API, logs and bundles are served (SIGNALBOX_SERVICES, else 127.0.0.1:4502)',
  },
  {
    flags: '--data <folder>',
    what: 'data folder (SIGNALBOX_DATA, else /var/lib/signalbox for root, ~/.local/share/signalbox)',
    completes: 'folder',
  },
  { flags: '--database <url>', what: 'PostgreSQL to use (DATABASE_URL); without one it brings its own' },
  { flags: '--log <level>', what: `${LEVELS.join(', ')} (SIGNALBOX_LOG)`, completes: LEVELS, read: oneOf(LEVELS) },
  { flags: '--insecure', what: 'bind beyond this machine without TLS, where the network itself is trusted' },
  { flags: '--json', what: 'say what was started as JSON' },
];

export const processCommands = [
  define<StartFlags>({
    name: 'start',
    summary: 'everything to try it out: a server, its database, a worker, the examples, your dags',
    details:
      'Needs nothing installed: it brings a PostgreSQL of its own, kept in the data folder. Dags of the folder ./dags (or --dags) are ' +
      'deployed and watched: save a file and the new version is live; remove it and its dag is retired. Ctrl-C stops everything in order; ' +
      'what was stored stays, and the next start goes on with it.',
    flags: [
      {
        flags: '--dags <folder>',
        what: 'your dags, deployed and watched (./dags if there is one)',
        completes: 'folder',
      },
      { flags: '--no-examples', what: 'without the dags of the examples folder' },
      { flags: '--slots <count>', what: 'tasks that the worker runs at a time', usual: 10, read: wholeNumber },
      ...serverFlags,
    ],
    examples: [
      ['signalbox start', 'on http://127.0.0.1:4500, with ./dags if there is such a folder'],
      ['signalbox start --dags pipelines --no-examples', 'only your own dags'],
      [
        'signalbox start --http 127.0.0.1:0 --grpc 127.0.0.1:0 --services 127.0.0.1:0 --data /tmp/sandbox',
        'beside another one: free ports, data of its own',
      ],
    ],
    run: async (_, flags) => (await import('../start/start.ts')).start(flags),
  }),
  define<ServerFlags>({
    name: 'server',
    summary: 'a server alone, as production has it',
    details:
      'Settings come from flags or the environment (docs/guides/production.md). SIGTERM hands its work over and ends it.',
    flags: serverFlags,
    examples: [
      ['signalbox server --database postgresql://signalbox@db.internal/signalbox', 'on a PostgreSQL of yours'],
      ['DATABASE_URL=postgresql://… SIGNALBOX_ADMIN_TOKEN=… signalbox server', 'all from the environment'],
    ],
    run: async (_, flags) => (await import('../commands/server.ts')).server(flags),
  }),
  define<WorkerFlags>({
    name: 'worker',
    summary: 'a worker: runs the tasks of dags',
    details:
      'SIGTERM or Ctrl-C: it takes nothing new, finishes what it has, and leaves. A second signal ends it at once.',
    flags: [
      {
        flags: '--handlers <file>',
        what: 'a module that exports functions, for tasks that name a handler',
        completes: 'file',
      },
      { flags: '--slots <count>', what: 'tasks that it runs at a time', usual: 10, read: wholeNumber },
      { flags: '--queues <names>', what: 'queues that it listens to, with commas between', usual: 'default' },
      {
        flags: '--gateway <addresses>',
        what: 'host:port of one or more servers (SIGNALBOX_GATEWAY, else 127.0.0.1:4501)',
      },
      {
        flags: '--allow <kinds>',
        what: 'kinds of tasks that it runs, with commas between: handler, function, process, http (else all)',
      },
      {
        flags: '--http-allow <hosts>',
        what: 'what http tasks may call beside public addresses: names, addresses, ranges (SIGNALBOX_HTTP_ALLOW)',
      },
      {
        flags: '--secrets <folder>',
        what: 'a file for each secret, named as it is (SIGNALBOX_SECRETS)',
        completes: 'folder',
      },
      {
        flags: '--cache <folder>',
        what: 'where bundles are kept (SIGNALBOX_CACHE, else ~/.cache/signalbox)',
        completes: 'folder',
      },
      { flags: '--name <name>', what: 'what people see it under' },
      { flags: '--ca <file>', what: 'certificate of the authority behind https:// gateways', completes: 'file' },
      {
        flags: '--data <folder>',
        what: 'data folder of the server, for its token (SIGNALBOX_DATA)',
        completes: 'folder',
      },
      { flags: '--json', what: 'log lines of JSON' },
    ],
    examples: [
      ['signalbox worker', 'for the server on this machine'],
      ['signalbox worker --queues big-machines,default --slots 4', 'work of two queues, four tasks at a time'],
      ['signalbox worker --allow process --secrets /run/secrets', 'command lines only, with secrets from files'],
      ['SIGNALBOX_TOKEN=… signalbox worker --gateway https://box-1:4501 --ca ca.pem', 'for a server elsewhere'],
    ],
    run: async (_, flags) => (await import('../commands/worker.ts')).worker(flags),
  }),
];

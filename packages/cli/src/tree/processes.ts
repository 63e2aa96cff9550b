/** Commands that run until they are told to stop. */
import type { ServerFlags } from '../commands/server.ts';
import type { WorkerFlags } from '../commands/worker.ts';
import { define, type FlagDefinition, oneOf, wholeNumber } from '../define.ts';
import type { StartFlags } from '../start/start-flags.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

const serverFlags: readonly FlagDefinition[] = [
  {
    flags: '--http <address>',
    what: 'where the API listens (SIGNALBOX_HTTP, default 127.0.0.1:4500); port 0 picks a free port',
  },
  {
    flags: '--grpc <address>',
    what: 'where workers and other servers connect (SIGNALBOX_GRPC, default 127.0.0.1:4501)',
  },
  {
    flags: '--services <address>',
    what: 'where the gRPC API, logs and bundles are served (SIGNALBOX_SERVICES, default 127.0.0.1:4502)',
  },
  {
    flags: '--data <folder>',
    what: 'data folder (SIGNALBOX_DATA, default /var/lib/signalbox for root, ~/.local/share/signalbox for others)',
    completes: 'folder',
  },
  { flags: '--database <url>', what: 'PostgreSQL to use (DATABASE_URL, default: its own)' },
  { flags: '--log <level>', what: `${LEVELS.join(', ')} (SIGNALBOX_LOG)`, completes: LEVELS, read: oneOf(LEVELS) },
  { flags: '--insecure', what: 'listen beyond this machine without TLS; only on a trusted network' },
  { flags: '--json', what: 'print what was started as JSON' },
];

export const processCommands = [
  define<StartFlags>({
    name: 'start',
    summary: 'start everything you need to try it: server, database, worker, examples, your dags',
    details:
      'Comes with its own PostgreSQL, whose data is in the data folder. Deploys and watches the folder ./dags (or --dags): ' +
      'save a file to deploy it, delete a file to retire its dag. Ctrl-C stops everything; ' +
      'your data stays for the next start.',
    flags: [
      {
        flags: '--dags <folder>',
        what: 'folder of dags to deploy and watch (default: ./dags if it exists)',
        completes: 'folder',
      },
      { flags: '--no-examples', what: 'do not deploy the examples' },
      { flags: '--slots <count>', what: 'tasks that the worker runs at the same time', usual: 10, read: wholeNumber },
      ...serverFlags,
    ],
    examples: [
      ['signalbox start', 'on http://127.0.0.1:4500, with ./dags if it exists'],
      ['signalbox start --dags pipelines --no-examples', 'only your own dags'],
      [
        'signalbox start --http 127.0.0.1:0 --grpc 127.0.0.1:0 --services 127.0.0.1:0 --data /tmp/sandbox',
        'next to another one: free ports, own data folder',
      ],
    ],
    run: async (_, flags) => (await import('../start/start.ts')).start(flags),
  }),
  define<ServerFlags>({
    name: 'server',
    summary: 'start a server only, for production',
    details:
      'Settings come from flags or the environment (docs/guides/production.md). On SIGTERM it hands its shards over and stops.',
    flags: serverFlags,
    examples: [
      ['signalbox server --database postgresql://signalbox@db.internal/signalbox', 'with your own PostgreSQL'],
      ['DATABASE_URL=postgresql://… SIGNALBOX_ADMIN_TOKEN=… signalbox server', 'all from the environment'],
    ],
    run: async (_, flags) => (await import('../commands/server.ts')).server(flags),
  }),
  define<WorkerFlags>({
    name: 'worker',
    summary: 'start a worker, which runs tasks',
    details:
      'On SIGTERM or Ctrl-C it takes no new tasks, finishes its tasks and leaves. A second signal stops it at once. On SIGUSR2 it is evicted: its tasks stop, can save a checkpoint, and run again elsewhere without spending a retry.',
    flags: [
      {
        flags: '--handlers <file>',
        what: 'a module that exports functions, for tasks with a handler',
        completes: 'file',
      },
      { flags: '--slots <count>', what: 'tasks that it runs at the same time', usual: 10, read: wholeNumber },
      {
        flags: '--queues <names>',
        what: 'queues that it serves, separated by commas; with weights, such as high=4,default=4,batch=2, it takes from them in that proportion (SIGNALBOX_QUEUES, default: default)',
      },
      {
        flags: '--resources <amounts>',
        what: 'what tasks can ask for, such as cpu=4,memory=8GiB,gpu=1,license=3 (SIGNALBOX_RESOURCES, default: all cpu and memory)',
      },
      {
        flags: '--labels <labels>',
        what: 'what tasks can ask for by name and value, such as disk=ssd,team=data (SIGNALBOX_LABELS)',
      },
      { flags: '--zone <name>', what: 'where it runs: the label zone (SIGNALBOX_ZONE)' },
      { flags: '--spot', what: 'it may be taken away at short notice: the label spot=true' },
      {
        flags: '--gateway <addresses>',
        what: 'host:port of one or more servers (SIGNALBOX_GATEWAY, default 127.0.0.1:4501)',
      },
      {
        flags: '--allow <kinds>',
        what: 'kinds of tasks that it runs, separated by commas: handler, function, process, http (default: all)',
      },
      {
        flags: '--http-allow <hosts>',
        what: 'what HTTP tasks may call besides public addresses: names, addresses, ranges (SIGNALBOX_HTTP_ALLOW)',
      },
      {
        flags: '--secrets <folder>',
        what: 'folder with one file per secret; the file name is the secret name (SIGNALBOX_SECRETS)',
        completes: 'folder',
      },
      {
        flags: '--cache <folder>',
        what: 'where bundles are cached (SIGNALBOX_CACHE, default ~/.cache/signalbox)',
        completes: 'folder',
      },
      { flags: '--name <name>', what: 'name of the worker, shown to people' },
      { flags: '--ca <file>', what: 'CA certificate (PEM) for https:// gateways', completes: 'file' },
      {
        flags: '--data <folder>',
        what: 'data folder of the server, to read its token (SIGNALBOX_DATA)',
        completes: 'folder',
      },
      { flags: '--json', what: 'log as JSON lines' },
    ],
    examples: [
      ['signalbox worker', 'for the server on this machine'],
      ['signalbox worker --queues big-machines,default --slots 4', 'two queues, four tasks at a time'],
      [
        'signalbox worker --queues high=4,default=4,batch=2',
        'of ten tasks two are of batch, while all three have work',
      ],
      ['signalbox worker --resources gpu=2 --labels disk=ssd --zone eu-1', 'for tasks that ask for these'],
      ['signalbox worker --allow process --secrets /run/secrets', 'only process tasks, with secrets from files'],
      [
        'SIGNALBOX_TOKEN=… signalbox worker --gateway https://box-1:4501 --ca ca.pem',
        'for a server on another machine',
      ],
    ],
    run: async (_, flags) => (await import('../commands/worker.ts')).worker(flags),
  }),
];

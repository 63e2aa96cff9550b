/** What a new user sees first: where to look, where the data is, what to type next. */
import type { RunningServer, ServerConfig } from '@signalbox/server';
import { colours, plain, print } from '../output.ts';
import { next } from '../program-name.ts';
import type { StartFlags } from './start-flags.ts';

interface Greeting {
  readonly server: RunningServer;
  readonly link: string;
  readonly config: ServerConfig;
  readonly flags: StartFlags;
  readonly firstRun: string | null;
  /** The folder of the user's dags that is being watched. */
  readonly folder: string | null;
}

export function greet({ server, link, config, flags, firstRun, folder }: Greeting): void {
  const { url, grpcAddress } = server;
  const extra = [
    ...(isUsual(url) ? [] : [`--url ${url}`]),
    ...(flags.data === undefined && !process.env.SIGNALBOX_DATA ? [] : [`--data ${plain(config.dataDir)}`]),
  ];
  const line = (words: string, what: string) => `  ${colours.cyan(next(words))}\n      ${what}`;
  const command = (words: string, what: string) => line([words, ...extra].join(' '), what);
  const { databaseUrl, dataDir } = config;
  const lines = [
    '',
    `${colours.bold('Signalbox is running.')} Open this link in a browser; it works once:`,
    `  ${colours.bold(link)}`,
    '',
    `  API      ${url}`,
    `  workers  ${grpcAddress}, one is connected`,
    `  data     ${plain(dataDir)}${databaseUrl === null ? ', with its own PostgreSQL' : '; the database is DATABASE_URL'}`,
    `  dags     ${dagsText(folder, flags.examples)}`,
    '',
    'In another terminal:',
    ...(firstRun === null ? [] : [command(`runs show ${firstRun}`, 'an example run')]),
    ...(flags.examples
      ? [
          command(`runs trigger hello --params '{"name":"you"}' --wait`, 'run it again and watch'),
          command('runs trigger broken --wait', 'see what a failure looks like'),
        ]
      : []),
    ...(folder === null ? [line('init', 'write your first dag')] : [command('dags', 'list your dags')]),
    '',
    'Ctrl-C stops everything. Your data stays.',
  ];
  print(lines.join('\n'));
}

/** Which dags the server has now, and where those of the user come from. */
export function dagsText(folder: string | null, examples: boolean): string {
  const own = folder === null ? null : `${plain(folder)}, watched: save a file and it is deployed`;
  if (!examples) return own ?? 'none yet';
  return own === null ? 'the examples; none of your own yet' : `${own}; and the examples`;
}

const isUsual = (url: string): boolean => url === 'http://127.0.0.1:4500';

/** `signalbox start`: everything that is needed to try Signalbox, in one command. All of it stops with the command. */
import { readFile } from 'node:fs/promises';
import type { Client } from '@signalbox/sdk';
import type { RunningServer, ServerConfig } from '@signalbox/server';
import { variablesOf } from '../commands/server.ts';
import { colours, plainLines, print, printJson } from '../output.ts';
import { Dags } from './dags.ts';
import { endDatabaseNow } from './database.ts';
import { greet } from './greeting.ts';
import { holdFolder } from './hold.ts';
import { refuseBusyPorts } from './ports.ts';
import type { StartFlags } from './start-flags.ts';
import { WorkerChild } from './worker-child.ts';

type Say = (line: string) => void;

const READY_MS = 30_000;

export async function start(flags: StartFlags): Promise<void> {
  const { parseConfig, untilTold } = await import('@signalbox/server');
  const variables: Record<string, string | undefined> = { SIGNALBOX_LOG: 'warn', ...variablesOf(flags) };
  const config = parseConfig(variables);
  const say: Say = flags.json ? () => {} : (line) => print(colours.dim(line));
  const hold = await holdFolder(config.dataDir);
  try {
    await refuseBusyPorts(config);
    const { dags: folder, examples } = flags;
    const parts: Parts = { worker: null, dags: new Dags({ say, examples, folder }) };
    const told = untilTold(() => endNow(config, parts));
    await run({ flags, config, say, parts, told });
  } finally {
    await hold.release();
  }
  process.exit(0);
}

/** What has been started so far, so it can be stopped. */
interface Parts {
  worker: WorkerChild | null;
  readonly dags: Dags;
}

interface Run {
  readonly flags: StartFlags;
  readonly config: ServerConfig;
  readonly say: Say;
  readonly parts: Parts;
  readonly told: Promise<void>;
}

/** Told in the middle of its start, it ends what there is as soon as there is something to end. */
async function run({ flags, config, say, parts, told }: Run): Promise<void> {
  const { collectStartupGarbageSoon, startServer } = await import('@signalbox/server');
  const server = await startServer(config, (line) => say(plainLines(line)));
  collectStartupGarbageSoon();
  try {
    let isTold = false;
    void told.then(() => {
      isTold = true;
    });
    const bringing = bringWorkAndDags({ flags, config, say, parts, server });
    await Promise.race([bringing, told]);
    if (isTold) bringing.catch(() => undefined);
    await told;
  } finally {
    await stop(server, parts, say);
  }
}

async function bringWorkAndDags({
  flags,
  config,
  say,
  parts,
  server,
}: Omit<Run, 'told'> & { server: RunningServer }): Promise<void> {
  const token = config.adminToken ?? (await readFile(config.tokenFile, 'utf8')).trim();
  parts.worker = new WorkerChild({
    gateway: server.grpcAddress,
    token,
    slots: flags.slots,
    data: config.dataDir,
    onTrouble: (what) => say(plainLines(what)),
  });
  const connected = parts.worker.start();
  const { createClient } = await import('@signalbox/sdk');
  const client = createClient({ url: server.url, token, retryForMs: READY_MS });
  await parts.dags.deploy(client);
  await connected;
  const firstRun = flags.examples ? await runOnce(client) : null;
  const link = await linkOf(client, server);
  if (flags.json)
    printJson({
      url: server.url,
      grpcAddress: server.grpcAddress,
      nodeId: server.nodeId,
      link,
      dataDir: config.dataDir,
    });
  else greet({ server, link, config, flags, firstRun, folder: parts.dags.folder });
}

/** One example has already been run when somebody first looks. The key makes it one run, however often this starts. */
async function runOnce(client: Client): Promise<string | null> {
  try {
    return (await client.submit('hello', {}, { idempotencyKey: 'first-start' })).id;
  } catch {
    return null; // deleted by somebody, for instance: no reason not to start
  }
}

async function linkOf(client: Client, { url }: RunningServer): Promise<string> {
  const { path } = await client.createLoginLink();
  return `${url}${path}`;
}

async function stop(server: RunningServer, { worker, dags }: Parts, say: Say): Promise<void> {
  say('\nStopping. The worker finishes its tasks (at most 10 s; press Ctrl-C again to stop at once)');
  await dags.close();
  await worker?.stop();
  say('Stopping the server and its database');
  await server.stop();
  say('Stopped. Your data stays for the next start.');
}

/** Whatever is cut off here is taken up by the next start. */
function endNow(config: ServerConfig, { worker }: Parts): void {
  worker?.kill();
  void endDatabaseNow(config).finally(() => process.exit(130));
}

/** `signalbox start`: all that is needed to try it out, in one command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunningServer } from '@signalbox/server';
import { findToken } from './connection.ts';
import { readDefinition } from './deploy.ts';
import { colours, print, printJson } from './output.ts';
import { type ServerFlags, variablesOf } from './server.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bin/signalbox.js', import.meta.url));
const READY_MS = 30_000;
const RESTART_MS = 1_000;

export async function start(flags: ServerFlags & { readonly slots: number }): Promise<void> {
  const { runServer } = await import('@signalbox/server');
  const variables: Record<string, string | undefined> = { SIGNALBOX_LOG: 'warn', ...variablesOf(flags) };
  const worker = new ExampleWorker(flags);
  await runServer(variables, async (server) => {
    const token = await findToken(variables.SIGNALBOX_DATA === undefined ? {} : { data: variables.SIGNALBOX_DATA });
    const connected = worker.start(server, token);
    await deployExamples(server, token);
    await connected;
    if (flags.json) printJson({ url: server.url, grpcAddress: server.grpcAddress, nodeId: server.nodeId });
    else greet(server, flags);
    return () => worker.stop();
  });
  process.exit(0);
}

async function deployExamples({ url }: RunningServer, token: string): Promise<void> {
  const { createClient } = await import('@signalbox/sdk');
  const client = createClient({ url, token, retryForMs: READY_MS });
  const files = (await readdir(EXAMPLES)).filter((name) => name.endsWith('.json'));
  for (const file of files.sort()) await client.deployDag(await readDefinition(join(EXAMPLES, file)));
}

function greet({ url, grpcAddress }: RunningServer, { data, http }: ServerFlags): void {
  const extra = [...(http === undefined ? [] : ['--url', url]), ...(data === undefined ? [] : ['--data', data])].join(
    ' ',
  );
  const say = (command: string, what: string) =>
    `  ${colours.cyan(`npx signalbox ${command}${extra === '' ? '' : ` ${extra}`}`)}\n      ${what}`;
  print(
    [
      `${colours.bold('signalbox')} serves the API on ${colours.bold(url)} and workers on ${grpcAddress}.`,
      'A worker with the handlers of examples/ is connected. In another terminal:',
      '',
      say(`runs trigger hello --params '{"name":"you"}' --wait`, 'three tasks, one after the other'),
      say('runs trigger broken --wait', 'a task that fails, and what follows from it'),
      say('runs list', 'what there was'),
      '',
      'Ctrl-C ends it; what was stored stays.',
    ].join('\n'),
  );
}

/** A process of its own: user code never runs in the server (D7). */
class ExampleWorker {
  readonly #slots: number;
  #child: ChildProcess | null = null;
  #isStopped = false;

  constructor({ slots }: { readonly slots: number }) {
    this.#slots = slots;
  }

  /** Resolves when it is connected, or has not come in its time. */
  start(server: RunningServer, token: string): Promise<void> {
    const args = ['worker', '--handlers', join(EXAMPLES, 'handlers.mjs'), '--slots', String(this.#slots)];
    const child = spawn(process.execPath, [PROGRAM, ...args, '--gateway', server.grpcAddress, '--json'], {
      env: { ...process.env, SIGNALBOX_TOKEN: token },
      // It ends with its parent, also when that is killed: the channel between them closes.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    child.on('exit', () => {
      this.#child = null;
      if (!this.#isStopped) setTimeout(() => void this.start(server, token), RESTART_MS);
    });
    return new Promise((resolve) => {
      child.once('message', () => resolve());
      setTimeout(resolve, READY_MS).unref();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    if (child === null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await gone;
  }
}

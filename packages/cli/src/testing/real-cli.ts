/** The command line as a user has it: the built program, a real server with a real database, and a worker. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import type { DagDefinition } from '@signalbox/protocol';
import { type Client, createClient } from '@signalbox/sdk';
import { type Begun, begin, Commands } from './program.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/signalbox.js', import.meta.url));
const HANDLERS = fileURLToPath(new URL('./handlers.mjs', import.meta.url));
const PORTS = ['--http', '--grpc', '--services'].flatMap((flag) => [flag, '127.0.0.1:0']);

export class RealCli extends Commands {
  readonly folder: string;
  url = '';
  readonly #postgres: TestPostgres;
  readonly #running: ChildProcess[] = [];
  #client: Client | null = null;

  private constructor(folder: string, postgres: TestPostgres) {
    super();
    this.folder = folder;
    this.#postgres = postgres;
  }

  static async start(): Promise<RealCli> {
    const postgres = await startTestPostgres();
    const cli = new RealCli(await mkdtemp(join(tmpdir(), 'signalbox-cli-')), postgres);
    const server = cli.begin(['server', ...PORTS, '--database', await createDatabase(postgres), '--json']);
    await until(() => server.said.stdout.includes('\n'), 'the server');
    const { url, grpcAddress } = JSON.parse(server.said.stdout) as { url: string; grpcAddress: string };
    cli.url = url;
    const token = (await readFile(join(cli.folder, 'admin.token'), 'utf8')).trim();
    cli.#client = createClient({ url, token });
    const worker = cli.begin(['worker', '--handlers', HANDLERS, '--gateway', grpcAddress]);
    await until(() => worker.said.stdout.includes('is connected'), 'the worker');
    return cli;
  }

  override begin(args: readonly string[], { stdin }: { readonly stdin?: string } = {}): Begun {
    const { SIGNALBOX_TOKEN: _, SIGNALBOX_ADMIN_TOKEN: __, ...rest } = process.env;
    const begun = begin([process.execPath, PROGRAM, ...args], {
      cwd: this.folder,
      env: { ...rest, NODE_OPTIONS: '', SIGNALBOX_DATA: this.folder, SIGNALBOX_URL: this.url, SIGNALBOX_LOG: 'warn' },
      stdin,
    });
    this.#running.push(begun.child);
    return begun;
  }

  /** For what a test needs and is not about: a process each time would take a second. */
  get client(): Client {
    if (this.#client === null) throw new Error('The server has not started.');
    return this.#client;
  }

  async deploy(definition: DagDefinition): Promise<void> {
    await this.client.deployDag(definition);
  }

  async stop(): Promise<void> {
    for (const child of this.#running.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await this.#postgres.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('Not seen in time.');
}

export async function until(holds: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 1500 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  if (!holds()) throw new Error(`Not seen in time: ${what}`);
}

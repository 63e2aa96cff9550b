/** The command line as a user has it: the built program, a real server with a real database, and a worker. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import type { DagDefinition } from '@signalbox/protocol';
import { type Client, createClient } from '@signalbox/sdk';

const PROGRAM = fileURLToPath(new URL('../../bin/signalbox.js', import.meta.url));
const HANDLERS = fileURLToPath(new URL('./handlers.mjs', import.meta.url));
const PORTS = ['--http', '--grpc', '--services'].flatMap((flag) => [flag, '127.0.0.1:0']);

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class RealCli {
  readonly folder: string;
  url = '';
  readonly #postgres: TestPostgres;
  readonly #running: ChildProcess[] = [];
  #client: Client | null = null;

  private constructor(folder: string, postgres: TestPostgres) {
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

  begin(args: readonly string[], { stdin }: { readonly stdin?: string } = {}) {
    const { SIGNALBOX_TOKEN: _, SIGNALBOX_ADMIN_TOKEN: __, ...rest } = process.env;
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.folder,
      env: { ...rest, NODE_OPTIONS: '', SIGNALBOX_DATA: this.folder, SIGNALBOX_URL: this.url, SIGNALBOX_LOG: 'warn' },
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.#running.push(child);
    child.stdin?.end(stdin);
    const said = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk: Buffer) => {
      said.stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      said.stderr += chunk.toString();
    });
    const ended = once(child, 'close').then(([exitCode]): Ended => ({ exitCode: exitCode as number | null, ...said }));
    return { child, said, ended };
  }

  run(...args: string[]): Promise<Ended> {
    return this.begin(args).ended;
  }

  async json<T>(...args: string[]): Promise<T> {
    const { exitCode, stdout, stderr } = await this.run(...args, '--json');
    if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout) as T;
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

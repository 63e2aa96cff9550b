/** Real servers on a real database, with real workers, for tests: everything over sockets, nothing faked. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, createDatabase, startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import { type Client, createClient } from '@signalbox/sdk';
import { startWorker, type Worker, type WorkerOptions } from '@signalbox/worker';
import { parseConfig } from '../config.ts';
import { type RunningServer, startServer } from '../start.ts';
import { OWN_ZONES, type OwnZones } from '../zones/zone-book.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnyBody;
}

/** All that tests look at in answers; what is not in one is undefined. */
export interface AnyBody {
  readonly name: string;
  readonly id: string;
  readonly ids: readonly string[];
  readonly items: readonly AnyBody[];
  readonly tasks: readonly AnyBody[];
  readonly attempts: readonly AnyBody[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  readonly schedule: AnyBody;
  readonly cursor: string | null;
  readonly code: string;
  readonly detail: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly actor: string;
  readonly output: unknown;
  readonly error: string | null;
  readonly parent: { readonly run: string; readonly task: string } | null;
  readonly child: { readonly dag: string; readonly run: string | null } | null;
  readonly paused: boolean;
  readonly nextAt: string;
  readonly run: string;
  readonly firesAt: string;
  readonly retryable: boolean;
}

export interface Rig {
  readonly postgres: TestPostgres;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly token: string;
  readonly servers: readonly RunningServer[];
  addServer(variables?: Record<string, string>, ownZones?: OwnZones): Promise<RunningServer>;
  addWorker(handlers: WorkerOptions['handlers'], options?: Partial<WorkerOptions>): Promise<Worker>;
  /** A request with the admin token, to the first server unless told. */
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<Answered>;
  /** The body of a `GET` to the first server. */
  read<T>(path: string): Promise<T>;
  /** Of the first server, with the admin token. */
  client(): Client;
  /** Straight to the database. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export interface AskOptions {
  readonly server?: RunningServer;
  readonly headers?: Record<string, string>;
}

/** What most tests of the API need: one that returns its params, and one that fails. */
export const PLAIN_HANDLERS: WorkerOptions['handlers'] = {
  echo: ({ params }: { params: unknown }) => params,
  fail: () => {
    throw new Error('on purpose');
  },
};

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function startRig(variables: Record<string, string> = {}): Promise<Rig> {
  const postgres = await startTestPostgres();
  const databaseUrl = await createDatabase(postgres);
  const dataDir = await mkdtemp(join(tmpdir(), 'signalbox-server-'));
  const servers: RunningServer[] = [];
  const workers: Worker[] = [];
  let token = '';

  const rig: Rig = {
    postgres,
    databaseUrl,
    dataDir,
    get token() {
      return token;
    },
    servers,
    async addServer(more = {}, ownZones = OWN_ZONES) {
      const config = parseConfig({
        DATABASE_URL: databaseUrl,
        SIGNALBOX_DATA: dataDir,
        SIGNALBOX_HTTP: '127.0.0.1:0',
        SIGNALBOX_GRPC: '127.0.0.1:0',
        SIGNALBOX_SERVICES: '127.0.0.1:0',
        SIGNALBOX_LOG: process.env.TEST_LOG ?? 'silent',
        ...variables,
        ...more,
      });
      const server = await startServer(config, undefined, undefined, ownZones);
      servers.push(server);
      token = (await readFile(join(dataDir, 'admin.token'), 'utf8')).trim();
      await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200);
      return server;
    },
    async addWorker(handlers, options = {}) {
      const gateways = [(servers.at(-1) as RunningServer).grpcAddress];
      const worker = startWorker({ gateways, token, slots: 10, handlers, log: silent, ...options });
      workers.push(worker);
      await worker.connected;
      return worker;
    },
    async ask(method, path, body, { server = servers[0] as RunningServer, headers = {} } = {}) {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
    },
    async read<T>(path: string) {
      return (await rig.ask('GET', path)).body as unknown as T;
    },
    client: () => createClient({ url: servers[0]?.url ?? '', token }),
    async sql(text) {
      return (await ask(databaseUrl, text)) as Record<string, unknown>[];
    },
    async stop() {
      for (const worker of workers) worker.kill();
      for (const server of servers) await server.stop();
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  await rig.addServer();
  return rig;
}

/** Asks again and again, for as long as a loaded machine may need. */
export async function eventually(holds: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const until = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`It did not come true within ${withinMs} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

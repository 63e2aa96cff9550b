/** Servers, workers and a database as real processes, on loopback, in a folder of their own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestPostgres, type TestPostgres } from '@signalbox/postgres/testing';
import { type Client, createClient } from '@signalbox/sdk';
import pg from 'pg';
import { freePort, type Started, startProcess, until } from './processes.ts';
import { readLines, readSightings, type Sighting } from './witness.ts';

export const ADMIN_TOKEN = 'e2e-admin-token-0123456789abcdef0123456789abcdef';
const root = fileURLToPath(new URL('../../', import.meta.url));
const CLI = join(root, 'packages/cli/bin/signalbox.js');
const WORKER = join(root, 'e2e/dist/chaos-worker.js');

export interface ServerProcess extends Started {
  readonly httpPort: number;
  readonly grpcPort: number;
}

export class Cluster {
  readonly folder: string;
  readonly postgres: TestPostgres;
  readonly sql: pg.Pool;
  readonly servers: ServerProcess[] = [];
  readonly workers: Started[] = [];
  private readonly serverEnv: Readonly<Record<string, string>>;
  private readonly witnessFiles: string[] = [];
  private count = 0;

  private constructor(folder: string, postgres: TestPostgres, serverEnv: Readonly<Record<string, string>>) {
    this.serverEnv = serverEnv;
    this.folder = folder;
    this.postgres = postgres;
    this.sql = new pg.Pool({ connectionString: postgres.url, max: 3 });
    this.sql.on('error', () => undefined);
  }

  static async start(options: {
    servers: number;
    workers: number;
    slots: number;
    settings?: Record<string, string>;
    /** Variables of each server, beside those that the cluster sets. */
    serverEnv?: Readonly<Record<string, string>>;
  }): Promise<Cluster> {
    const settings = { max_connections: '100', ...options.settings };
    const postgres = await startTestPostgres({ durable: true, settings });
    const cluster = new Cluster(mkdtempSync(join(tmpdir(), 'signalbox-e2e-')), postgres, options.serverEnv ?? {});
    try {
      for (let i = 0; i < options.servers; i++) await cluster.addServer();
      for (let i = 0; i < options.workers; i++) await cluster.addWorker(options.slots);
      await cluster.whenBalanced();
      return cluster;
    } catch (error) {
      console.error(cluster.logs());
      await cluster.stop();
      throw error;
    }
  }

  /** A new server; or one in the place of another that has ended, at its ports and with its data. */
  async addServer(inPlaceOf?: ServerProcess): Promise<ServerProcess> {
    if (inPlaceOf === undefined) this.count += 1;
    const name = inPlaceOf?.name ?? `server-${this.count}`;
    const httpPort = inPlaceOf?.httpPort ?? (await freePort());
    const grpcPort = inPlaceOf?.grpcPort ?? (await freePort());
    const started = startProcess(name, CLI, {
      args: ['server'],
      logFile: join(this.folder, `${name}.log`),
      env: {
        ...process.env,
        ...this.serverEnv,
        DATABASE_URL: this.postgres.url,
        SIGNALBOX_HTTP: `127.0.0.1:${httpPort}`,
        SIGNALBOX_GRPC: `127.0.0.1:${grpcPort}`,
        SIGNALBOX_SERVICES: '127.0.0.1:0',
        SIGNALBOX_ADMIN_TOKEN: ADMIN_TOKEN,
        SIGNALBOX_DATA: join(this.folder, name),
      },
    });
    const server = { ...started, httpPort, grpcPort };
    this.servers.push(server);
    await until(`${name} is ready`, 90_000, () => isOk(httpPort, '/readyz'));
    return server;
  }

  /** A worker process: the one of the kill tests, or another script that reads the same variables. */
  async addWorker(
    slots: number,
    script: string = WORKER,
    prefers?: ServerProcess,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Started> {
    this.count += 1;
    const name = `worker-${this.count}`;
    const witnessFile = join(this.folder, `${name}.witness`);
    this.witnessFiles.push(witnessFile);
    // Each worker starts with another server, unless the test names one.
    const servers = this.runningServers();
    const gateways = servers.map(({ grpcPort }) => `127.0.0.1:${grpcPort}`);
    const turn = prefers === undefined ? this.workers.length % servers.length : servers.indexOf(prefers);
    const worker = startProcess(name, script, {
      logFile: join(this.folder, `${name}.log`),
      env: {
        ...process.env,
        WITNESS_FILE: witnessFile,
        WORKER_NAME: name,
        GATEWAYS: [...gateways.slice(turn), ...gateways.slice(0, turn)].join(','),
        SIGNALBOX_TOKEN: ADMIN_TOKEN,
        SLOTS: String(slots),
        ...env,
      },
    });
    this.workers.push(worker);
    return worker;
  }

  /** Their processes answer, whoever owns the shards. */
  async whenUp(servers: readonly ServerProcess[]): Promise<void> {
    await until('all servers are up', 90_000, async () => {
      const answers = await Promise.all(servers.map(({ httpPort }) => isOk(httpPort, '/healthz')));
      return answers.every((isThere) => isThere);
    });
  }

  client(server: ServerProcess | undefined = this.runningServers()[0]): Client {
    if (server === undefined) throw new Error('No server runs.');
    return createClient({ url: `http://127.0.0.1:${server.httpPort}`, token: ADMIN_TOKEN });
  }

  runningServers(): ServerProcess[] {
    return this.servers.filter((server) => server.isRunning());
  }

  sightings(): Sighting[] {
    return readSightings(this.witnessFiles);
  }

  /** Every shard has an owner, and every server owns some: nothing is on its way from one to another. */
  async whenBalanced(): Promise<void> {
    await until('all servers share the shards', 60_000, async () => {
      const { rows } = await this.sql.query<{ owner: string | null }>('select distinct owner from shard');
      return rows.length === this.runningServers().length && rows.every(({ owner }) => owner !== null);
    });
  }

  /** The server whose process owns this dag's shard, by the address that its node has told. */
  async ownerOfDag(name: string): Promise<ServerProcess> {
    const found = await this.sql.query<{ gateway_address: string }>(
      `select n.gateway_address from dag d join shard s on s.shard = d.shard join node n on n.node_id = s.owner where d.name = $1`,
      [name],
    );
    const port = Number(found.rows[0]?.gateway_address.split(':').at(-1));
    const owner = this.servers.find((server) => server.grpcPort === port);
    if (owner === undefined) throw new Error(`Nobody owns the shard of ${name}.`);
    return owner;
  }

  logs(): string {
    return [...this.servers, ...this.workers].map((each) => `── ${each.name}\n${each.log().slice(-3_000)}`).join('\n');
  }

  /** What a worker's script wrote down, one JSON value a line. */
  witnessLines(): unknown[] {
    return readLines(this.witnessFiles);
  }

  async stop(): Promise<void> {
    for (const each of [...this.workers, ...this.servers]) {
      each.signal('SIGCONT');
      each.signal('SIGKILL');
    }
    await Promise.all([...this.workers, ...this.servers].map((each) => each.exited));
    await this.sql.end().catch(() => undefined);
    await this.postgres.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function isOk(httpPort: number, path: '/readyz' | '/healthz'): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${httpPort}${path}`)).ok;
  } catch {
    return false;
  }
}

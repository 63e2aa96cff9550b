/** Starts a server and connects its parts: database, migrations, host with its real ports, gRPC port, edge. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_SETTINGS, type NodeId } from '@signalbox/engine';
import { type Clock, Host } from '@signalbox/host';
import { openPostgresStore, openQueries, type PostgresStore } from '@signalbox/store';
import { ensureAdminToken } from './auth/admin-token.ts';
import { Bearers } from './auth/bearer.ts';
import { childParams } from './child-params.ts';
import { type ServerConfig, showAddress } from './config.ts';
import { BudgetWatch } from './costs/budget-watch.ts';
import { migrateWhenThere, openDatabase } from './database.ts';
import { dataAddressOf, reachable } from './edge/data-address.ts';
import { Edge } from './edge/edge.ts';
import { openGrpcDoor, peerCredentials } from './grpc/door.ts';
import { GrpcPeerNetwork } from './grpc/peer-network.ts';
import { TakenSlots } from './grpc/taken-slots.ts';
import { serveWorker } from './grpc/worker-stream.ts';
import { FleetRecords } from './history/fleet-records.ts';
import { type Logger, makeLogger, tellWith } from './log.ts';
import { takeLogFolder } from './logs/log-folder.ts';
import { requireS3 } from './objects/s3.ts';
import { cryptoRandom, systemClock } from './ports/clock.ts';
import { DatabaseClock } from './ports/database-clock.ts';
import { ThreadRenewer } from './ports/renewer.ts';
import { HmacTokens } from './ports/tokens.ts';
import { SettingsBook } from './settings/settings-book.ts';
import { Upkeep } from './upkeep.ts';
import { VERSION } from './version.ts';
import { OWN_ZONES, type OwnZones, ZoneBook } from './zones/zone-book.ts';

export interface RunningServer {
  readonly nodeId: string;
  /** Where the REST API is, such as `http://127.0.0.1:4500`. */
  readonly url: string;
  /** Where workers and other nodes reach it. */
  readonly grpcAddress: string;
  /** Where services, logs of workers and questions for logs go. */
  readonly servicesAddress: string;
  /** Where it keeps the logs that workers send to it. */
  readonly logFolder: string;
  readonly host: Host;
  /** Hands the shards over, then ends: within a second while the database answers (I18). */
  stop(): Promise<void>;
}

const EDGE_MS = 300;
/** Workers take a server for hung after three of these: about when other servers take its shards. */
const PING_MS = 1_000;

/** What was begun is ended in the opposite order, whatever goes wrong on the way. */
class Closers {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  async closeAll(logger: Logger): Promise<void> {
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        logger.warn({ error: String(error) }, 'A part of the server did not close in order.');
      }
    }
  }
}

/** @example const server = await startServer(parseConfig({ SIGNALBOX_HTTP: '127.0.0.1:0' })); */
export async function startServer(
  config: ServerConfig,
  /** Told what takes its time at a start, a line for people each. */
  onProgress: (line: string) => void = () => {},
  /** The clock of this machine; tests give one that is wrong. */
  machineClock: Clock = systemClock,
  /** The zone data of this runtime; tests give other data. */
  ownZones: OwnZones = OWN_ZONES,
): Promise<RunningServer> {
  if (config.watchObjects.prefixes.length > 0) requireS3();
  const logger = makeLogger(config.logLevel, 'main');
  const closers = new Closers();
  try {
    return await start({ config, logger, closers, onProgress, machineClock, ownZones });
  } catch (error) {
    await closers.closeAll(logger);
    throw error;
  }
}

interface Start {
  readonly config: ServerConfig;
  readonly logger: Logger;
  readonly closers: Closers;
  readonly onProgress: (line: string) => void;
  readonly machineClock: Clock;
  readonly ownZones: OwnZones;
}

async function start({ config, logger, closers, onProgress, machineClock, ownZones }: Start): Promise<RunningServer> {
  const tell = tellWith(logger);
  const { preparedStatements, logLevel, tls } = config;
  const database = await openDatabase(config, (level, message, fields) => {
    onProgress(message);
    tell(level, message, fields);
  });
  const { url } = database;
  let opened: PostgresStore | null = null;
  closers.add(async () => {
    // Other servers may live on the same embedded database: the last one out ends it.
    const isLast = await database.leave(opened);
    await opened?.close();
    if (isLast) await database.stop();
  });
  const migrated = await migrateWhenThere(url, tell);
  if (migrated.length > 0) onProgress(`Database schema brought up to this version: ${migrated.length} migrations`);
  const access = { url, preparedStatements, log: tell };
  const store = await openPostgresStore(access);
  opened = store;
  const queries = await openQueries({ ...access, maxConnections: 2 });
  closers.add(() => queries.close());
  await ensureAdminToken(queries, config);
  const cluster = await queries.cluster();

  const nodeId = randomUUID() as NodeId;
  /** Null before it starts, and once it stops. */
  let host: Host | null = null;
  /** The same, and known also while it stops. */
  let decider: Host | null = null;
  let grpcAddress = '';
  let dataAddress = '';
  const network = new GrpcPeerNetwork({
    ...cluster,
    address: () => grpcAddress,
    credentials: await peerCredentials(tls),
    tell,
  });
  const bearers = new Bearers(queries);
  const welcome = () => ({
    nodeId,
    heartbeatMs: config.heartbeatMs,
    leaseMs: config.leaseMs,
    // Also while it stops: a worker that asks then must not forget where else it can go.
    gateways: decider?.gateways() ?? [],
    dataAddress,
    pingMs: PING_MS,
  });
  const workerPorts = { bearers, gateway: () => host?.gateway ?? null, welcome, tell, slots: new TakenSlots() };
  const door = await openGrpcDoor(config.grpc, tls, {
    onWorker: (stream) => void serveWorker(stream, workerPorts),
    onPeer: (stream) => network.accept(stream),
  });
  closers.add(() => door.close());
  grpcAddress = config.advertise ?? reachable({ host: config.grpc.host, port: door.port });

  const logFolder = await takeLogFolder(config.dataDir);
  closers.add(() => logFolder.release());
  const closing = {
    days: config.deadLetterDays,
    ask: (...asked: Parameters<Host['ask']>) => decider?.ask(...asked) ?? null,
  };
  const upkeep = new Upkeep(store, config.retentionDays, closing, tell);
  const clock = new DatabaseClock({
    machine: machineClock,
    readDatabase: () => store.readClock(),
    boundMs: config.clockBoundMs,
    isIdle: () => (host?.metrics().shardsOwned ?? 0) === 0,
    onMeasured: (seen) => {
      // Only for whoever looks: the next measurement writes it again.
      store.noteClock(nodeId, seen).catch(() => undefined);
    },
    tell,
  });
  const edge = new Edge(
    {
      url,
      preparedStatements,
      nodeId,
      bind: config.http,
      services: config.services,
      advertised: { advertise: config.advertise, advertiseServices: config.advertiseServices },
      allowedHosts: config.allowedHosts,
      trustedProxies: config.trustedProxies,
      callbackAllow: config.callbackAllow,
      watchFolders: config.watchFolders,
      watchObjects: config.watchObjects,
      tls,
      logLevel,
      retention: upkeep.retention,
      rate: config.rate,
      runRate: config.runRate,
      logs: { folder: logFolder.path, bytesLimit: config.logBytes, retentionDays: config.retentionDays },
    },
    { host: () => decider, upkeep, clock: () => clock.seen() },
    tell,
  );
  closers.add(() => edge.stop());
  // Before the host: the node is registered with the address at which others find its logs.
  await edge.start();
  dataAddress = dataAddressOf(config, config.services.host, edge.ports.services);

  await clock.start();
  closers.add(() => clock.stop());

  const zones = new ZoneBook({
    store: queries,
    tell,
    nodeId,
    own: ownZones,
    onChanged: (reason) => host?.reload(reason),
  });
  await zones.start();
  closers.add(async () => zones.stop());
  const settings = new SettingsBook({
    store: queries,
    onChanged: (reason) => host?.reload(reason),
    onAccounting: (isOn) => {
      store.isAccounting = isOn;
    },
  });
  await settings.start();
  closers.add(async () => settings.stop());

  const records = new FleetRecords({ queries, nodeId, tell });
  records.start();
  closers.add(() => records.stop());

  const running = new Host(
    {
      nodeId,
      peerAddress: grpcAddress,
      gatewayAddress: grpcAddress,
      dataAddress,
      version: VERSION,
      mostLiveRuns: config.mostLiveRuns,
      settings: {
        ...DEFAULT_SETTINGS,
        leaseMs: config.leaseMs,
        doubtfulMs: 2 * config.heartbeatMs,
        retriesPerSecond: config.retriesPerSecond,
        mostFanOut: config.mostFanOut,
        mostLiveTasks: config.mostLiveTasks,
        windowGraceMs: config.windowGraceMs,
        reserveAfterMs: config.reserveAfterMs,
        decisionsPerSecond: config.decisionsPerSecond,
        zoneData: zones.source,
        zoneVersion: () => zones.version,
        zoneDataOf: zones.sourceOf,
        isZoneSure: zones.isSure,
        defaultJitterMs: settings.defaultJitterMs,
      },
    },
    {
      store,
      clock,
      unfit: () => clock.unfit(),
      random: cryptoRandom,
      log: tell,
      tokens: new HmacTokens(cluster),
      network,
      readTenants: () => queries.readTenantRules(),
      readCaps: () => queries.readCaps(),
      readQuotas: () => queries.readQuotas(),
      readFrozen: () => queries.readFrozen(),
      readKept: () => queries.readKept(),
      childParams,
      history: records,
      renewer: new ThreadRenewer({ url, preparedStatements, logLevel, windowGraceMs: config.windowGraceMs }, tell),
    },
  );
  host = running;
  decider = running;
  closers.add(() => {
    host = null; // Workers that come now are told to go elsewhere: nobody would hear of them any more (I27).
    return running.stop();
  });
  // Requests under way have a moment to end; after that the shards do not wait for them (I18).
  closers.add(() => Promise.race([edge.stop(), pause(EDGE_MS)]));
  await running.start();

  upkeep.start();
  closers.add(() => upkeep.stop());
  const budgets = new BudgetWatch({ queries, ask: closing.ask, now: () => clock.wall(), tell });
  budgets.start();
  closers.add(async () => budgets.stop());

  const httpUrl = `${tls === null ? 'http' : 'https'}://${showAddress({ host: config.http.host, port: edge.ports.http })}`;
  logger.info({ nodeId, http: httpUrl, grpc: grpcAddress, services: dataAddress }, 'The server is up.');
  return {
    nodeId,
    url: httpUrl,
    grpcAddress,
    servicesAddress: dataAddress,
    logFolder: logFolder.path,
    host: running,
    stop: () => closers.closeAll(logger),
  };
}

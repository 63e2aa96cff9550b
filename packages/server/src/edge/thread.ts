/**
 * The thread of the edge: HTTP and services on one side, the main thread on the other, and its own small pool for queries
 * (D12).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { AddressPolicy, parseAllow } from '@signalbox/protocol/outbound';
import { openQueries } from '@signalbox/store';
import { CallbackCaller } from '../callbacks/caller.ts';
import { peerCredentials } from '../grpc/door.ts';
import { makeLogger, tellWith } from '../log.ts';
import { LogReader } from '../logs/log-reader.ts';
import { LogStore } from '../logs/log-store.ts';
import { NodeLogs } from '../logs/node-logs.ts';
import { buildApp } from '../rest/app.ts';
import { openServices } from '../services/door.ts';
import { showSettingsOf } from '../settings/edge-settings.ts';
import { SettingsBook } from '../settings/settings-book.ts';
import { collectStartupGarbageSoon } from '../startup-garbage.ts';
import { showZonesOf } from '../zones/edge-zones.ts';
import { ZoneBook } from '../zones/zone-book.ts';
import { dataAddressOf } from './data-address.ts';
import { MainLine } from './main-line.ts';
import type { EdgeData, FromEdge, ToEdge } from './messages.ts';

const CONNECT_MS = 2_000;
const STATEMENT_MS = 4_000;
const CONNECTIONS = 4;
const UPKEEP_MS = 3_600_000;
const SERVER = { name: 'server', remedy: 'Start the server with SIGNALBOX_CALLBACK_ALLOW=<host> to allow it.' };

if (parentPort === null) throw new Error('This file is the entry of a thread.');
const port = parentPort;
const say = (message: FromEdge): void => port.postMessage(message);
const {
  url,
  preparedStatements,
  nodeId,
  advertised,
  bind,
  services,
  allowedHosts,
  trustedProxies,
  callbackAllow,
  watchFolders,
  watchObjects,
  tls,
  logLevel,
  retention,
  rate,
  runRate,
  logs: logOptions,
} = workerData as EdgeData;
const logger = makeLogger(logLevel, 'edge');
const tell = tellWith(logger);

/** What is begun, for an end in the opposite order. */
const closers: (() => Promise<unknown>)[] = [];
let step: Extract<FromEdge, { kind: 'failed' }>['at'] = 'start';

async function serve(): Promise<void> {
  const queries = await openQueries({
    url,
    preparedStatements,
    connectTimeoutMs: CONNECT_MS,
    statementTimeoutMs: STATEMENT_MS,
    maxConnections: CONNECTIONS,
    log: tell,
  });
  closers.push(() => queries.close());
  const cluster = await queries.cluster();
  const zones = new ZoneBook({ store: queries, tell, nodeId: null, onChanged: () => undefined });
  await zones.start();
  closers.push(async () => zones.stop());
  showZonesOf(zones.source);
  const settings = new SettingsBook({ store: queries, onChanged: () => undefined });
  await settings.start();
  closers.push(async () => settings.stop());
  showSettingsOf(settings);
  const logs = await LogStore.open({ ...logOptions, tell });
  const upkeep = setInterval(() => void dropExpired(logs), UPKEEP_MS);
  closers.push(() => logs.close());
  closers.push(async () => clearInterval(upkeep));
  const main = new MainLine(port);
  const nodes = new NodeLogs({
    nodeId,
    key: cluster,
    credentials: await peerCredentials(tls),
    listNodes: () => queries.listDataNodes(),
  });
  closers.push(async () => nodes.close());
  const calls = new CallbackCaller({
    queries,
    clusterKey: cluster.tokenKey,
    policy: new AddressPolicy(parseAllow(callbackAllow), SERVER),
    tell,
  });
  closers.push(() => calls.stop());
  const reader = new LogReader({ logs, nodes, queries });
  const app = await buildApp({
    queries,
    main,
    logs: reader,
    logFolder: logOptions.folder,
    logger,
    bind,
    allowedHosts,
    trustedProxies,
    tls,
    retention,
    rate,
    runRate,
    watchFolders,
    watchObjects,
  });
  port.on('message', (message: ToEdge) => {
    if (message.kind === 'answers') main.take(message.answers);
    else void close();
  });
  step = 'services';
  const door = await openServices({
    bind: services,
    tls,
    queries,
    cluster,
    logs,
    reader,
    app,
    http: bind,
    logger,
    address: (bound) => dataAddressOf(advertised, services.host, bound),
  });
  step = 'http';
  closers.push(() => Promise.all([door.close(), app.close()]));
  collectStartupGarbageSoon();
  await app.listen({ host: bind.host, port: bind.port });
  const address = app.server.address();
  const http = typeof address === 'object' && address !== null ? address.port : bind.port;
  calls.start();
  say({ kind: 'listening', ports: { http, services: door.port } });
}

async function close(): Promise<void> {
  for (let end = closers.pop(); end !== undefined; end = closers.pop()) await end().catch(() => undefined);
  say({ kind: 'closed' });
}

async function dropExpired(logs: LogStore): Promise<void> {
  await logs
    .dropExpired()
    .catch((error: unknown) => tell('warn', 'Old logs could not be dropped.', { error: String(error) }));
}

serve().catch((error: unknown) =>
  say({ kind: 'failed', at: step, error: error instanceof Error ? error.message : String(error) }),
);

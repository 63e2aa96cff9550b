/** The services port, on the thread of the edge: bulk data to and from workers, and the gRPC API (docs/decisions/0012). */
import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { addNodeLogs, addWorkerData, CHANNEL_OPTIONS } from '@signalbox/protocol/grpc';
import type { Cluster, Queries } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { Bearers } from '../auth/bearer.ts';
import { type BindAddress, showAddress, type TlsFiles } from '../config.ts';
import { type GrpcDoor, listenGrpc } from '../grpc/door.ts';
import { boundUnfinished } from '../grpc/unfinished.ts';
import type { Logger } from '../log.ts';
import type { LogReader } from '../logs/log-reader.ts';
import type { LogStore } from '../logs/log-store.ts';
import { answerReadLogs, isNode } from '../logs/node-logs.ts';
import { HmacTokens } from '../ports/tokens.ts';
import { addApi } from './api/api.ts';
import { BundleCache } from './bundle-cache.ts';
import { fetchBundle } from './fetch-bundle.ts';
import { gateOf, longestMessage } from './gate.ts';
import { addHealth } from './health.ts';
import { fetchOutput } from './outputs/fetch-output.ts';
import { Room } from './outputs/room.ts';
import { storeOutput } from './outputs/store-output.ts';
import { pushLogs } from './push-logs.ts';
import { addReflection } from './reflection.ts';
import { addScaler } from './scaler.ts';

/** Each may have 8 MiB in memory, a few times over. */
const OUTPUTS_AT_ONCE = 8;
/** Total size of all incomplete messages. */
const MOST_UNFINISHED_BYTES = 128 * 1024 * 1024;

export interface ServicesOptions {
  readonly bind: BindAddress;
  readonly tls: TlsFiles | null;
  readonly queries: Queries;
  readonly cluster: Cluster;
  readonly logs: LogStore;
  readonly reader: LogReader;
  /** REST, which answers the calls of the API as well, and where it is served. */
  readonly app: FastifyInstance;
  readonly http: BindAddress;
  readonly logger: Logger;
  /** Where others find it once it is bound to a port. */
  readonly address: (port: number) => string;
}

export async function openServices(options: ServicesOptions): Promise<GrpcDoor> {
  const { bind, tls, queries, cluster, logs, logger } = options;
  setLogVerbosity(logVerbosity.NONE); // what goes wrong is told by us
  const guard = { bearers: new Bearers(queries), logger };
  let address = '';
  const server = new Server({
    ...CHANNEL_OPTIONS,
    interceptors: [
      boundUnfinished({ longest: longestMessage, totalBytes: MOST_UNFINISHED_BYTES }),
      gateOf({ ...guard, isNode: (metadata) => isNode(metadata, cluster, address) }),
    ],
    'grpc.enable_channelz': 0,
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 20_000,
  });
  const tokens = new HmacTokens(cluster);
  const bundles = new BundleCache(queries);
  const outputs = { ...guard, queries, tokens, room: new Room(OUTPUTS_AT_ONCE) };
  addWorkerData(server, {
    pushLogs: (stream) => void pushLogs(stream, { ...guard, logs, tokens }),
    fetchBundle: (stream) => void fetchBundle(stream, { ...guard, bundles, findTenant: queries.findTenant }),
    fetchOutput: (stream) => void fetchOutput(stream, outputs),
    storeOutput: (stream, answer) => void storeOutput(stream, answer, outputs),
  });
  const { app, http, reader } = options;
  const api = addApi(server, { ...guard, app, bind: http, logs: reader });
  const isReady = async () =>
    (await app.inject({ url: '/readyz', headers: { host: showAddress(http) } })).statusCode === 200;
  const scaler = addScaler(server, { app, bind: http, logger });
  const health = addHealth(server, { isReady, services: () => [api.name, scaler.name] });
  addReflection(server, [api, scaler, health], guard);
  addNodeLogs(server, (call, answer) => {
    void answerReadLogs(call, answer, { key: cluster, address: () => address, logs, logger });
  });
  const door = await listenGrpc(server, { setting: 'SIGNALBOX_SERVICES', bind, tls });
  address = options.address(door.port);
  return door;
}

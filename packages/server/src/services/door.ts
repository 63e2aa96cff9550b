/** The services port, on the edge's thread: what moves in bulk to and from workers, and the gRPC API (docs/decisions/0012). */
import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { addNodeLogs, addWorkerData, CHANNEL_OPTIONS } from '@signalbox/protocol/grpc';
import type { Cluster, Queries } from '@signalbox/store';
import { Bearers } from '../auth/bearer.ts';
import type { BindAddress, TlsFiles } from '../config.ts';
import { type GrpcDoor, listenGrpc } from '../grpc/door.ts';
import type { Logger } from '../log.ts';
import type { LogStore } from '../logs/log-store.ts';
import { answerReadLogs } from '../logs/node-logs.ts';
import { HmacTokens } from '../ports/tokens.ts';
import { BundleCache } from './bundle-cache.ts';
import { fetchBundle } from './fetch-bundle.ts';
import { pushLogs } from './push-logs.ts';

export interface ServicesOptions {
  readonly bind: BindAddress;
  readonly tls: TlsFiles | null;
  readonly queries: Queries;
  readonly cluster: Cluster;
  readonly logs: LogStore;
  readonly logger: Logger;
  /** Where others find it once it is bound to a port. */
  readonly address: (port: number) => string;
}

export async function openServices(options: ServicesOptions): Promise<GrpcDoor> {
  const { bind, tls, queries, cluster, logs, logger } = options;
  setLogVerbosity(logVerbosity.NONE); // what goes wrong is told by us
  const server = new Server({
    ...CHANNEL_OPTIONS,
    'grpc.enable_channelz': 0,
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 20_000,
  });
  const guard = { bearers: new Bearers(queries), logger };
  const tokens = new HmacTokens(cluster);
  const bundles = new BundleCache(queries);
  addWorkerData(server, {
    pushLogs: (stream) => void pushLogs(stream, { ...guard, logs, tokens }),
    fetchBundle: (stream) => void fetchBundle(stream, { ...guard, bundles }),
  });
  let address = '';
  addNodeLogs(server, (call, answer) => {
    void answerReadLogs(call, answer, { key: cluster, address: () => address, logs, logger });
  });
  const door = await listenGrpc(server, { setting: 'SIGNALBOX_SERVICES', bind, tls });
  address = options.address(door.port);
  return door;
}

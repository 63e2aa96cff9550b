/** The gRPC port: streams of workers and links of other nodes. */
import { readFile } from 'node:fs/promises';
import {
  type ChannelCredentials,
  credentials,
  logVerbosity,
  Server,
  ServerCredentials,
  setLogVerbosity,
} from '@grpc/grpc-js';
import {
  addPeer,
  addWorkerGateway,
  connectMethod,
  type GatewayStream,
  MAX_WORKER_MESSAGE_BYTES,
  type PeerServerStream,
} from '@signalbox/protocol/grpc';
import { type BindAddress, explainBind, showAddress, type TlsFiles } from '../config.ts';
import { PEER_MESSAGE_BYTES } from './peer-network.ts';
import { boundUnfinished } from './unfinished.ts';

interface GrpcHandlers {
  readonly onWorker: (stream: GatewayStream) => void;
  readonly onPeer: (stream: PeerServerStream) => void;
}

export interface GrpcDoor {
  readonly port: number;
  close(): Promise<void>;
}

const CLOSE_MS = 500;
/** Limit per connection. */
const MOST_STREAMS = 32;
/** Total size of incomplete messages of all workers. */
const MOST_UNFINISHED_BYTES = 64 * 1024 * 1024;

/** Binds, or says what is wrong with the address. Closing gives calls under way a moment. */
export async function listenGrpc(
  server: Server,
  { setting, bind, tls }: { readonly setting: string; readonly bind: BindAddress; readonly tls: TlsFiles | null },
): Promise<GrpcDoor> {
  const own = await serverCredentials(tls);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(showAddress(bind), own, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(explainBind(setting, bind, error));
    });
  });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, CLOSE_MS);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

export async function openGrpcDoor(bind: BindAddress, tls: TlsFiles | null, handlers: GrpcHandlers): Promise<GrpcDoor> {
  setLogVerbosity(logVerbosity.NONE); // what goes wrong is told by us
  const server = new Server({
    interceptors: [
      boundUnfinished({
        // The port is also that of other servers, which send more, and are let in by the cluster's key alone.
        longest: (path) => (path === connectMethod.path ? MAX_WORKER_MESSAGE_BYTES : null),
        totalBytes: MOST_UNFINISHED_BYTES,
      }),
    ],
    // A worker has one stream, and so has a server.
    'grpc.max_concurrent_streams': MOST_STREAMS,
    'grpc.max_receive_message_length': PEER_MESSAGE_BYTES,
    'grpc.max_send_message_length': PEER_MESSAGE_BYTES,
    'grpc.enable_channelz': 0,
    // Connections that are only half there; longer than any worker's lease, so that a busy one is not cut off.
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 20_000,
  });
  addWorkerGateway(server, handlers.onWorker);
  addPeer(server, handlers.onPeer);
  return listenGrpc(server, { setting: 'SIGNALBOX_GRPC', bind, tls });
}

export async function peerCredentials(tls: TlsFiles | null): Promise<ChannelCredentials> {
  if (tls === null) return credentials.createInsecure();
  return credentials.createSsl(tls.ca === null ? null : await readFile(tls.ca));
}

async function serverCredentials(tls: TlsFiles | null): Promise<ServerCredentials> {
  if (tls === null) return ServerCredentials.createInsecure();
  const [cert_chain, private_key] = await Promise.all([readFile(tls.cert), readFile(tls.key)]);
  return ServerCredentials.createSsl(null, [{ cert_chain, private_key }]);
}

/** The address for logs and bundles, from the last welcome message. */
import { type ChannelCredentials, Client, credentials, Metadata } from '@grpc/grpc-js';
import { CHANNEL_OPTIONS, TENANT_HEADER, WORKER_HEADER } from '@signalbox/protocol/grpc';
import { type GatewayAddress, parseGateway } from './gateways.ts';

export interface DataAccess {
  /** The worker's own id: tokens of claims are good for the worker that they were assigned to. */
  readonly id: string;
  readonly token: string;
  readonly rootCertificates: Buffer | null;
}

/** `unknown` until the first welcome; `none` when the node takes no logs and gives out no bundles. */
export type DataPlace = 'unknown' | 'none' | GatewayAddress;

/** A bare address of a gateway with TLS has TLS too: no step down. */
export function dataPlaceOf(dataAddress: string, gateway: GatewayAddress): DataPlace {
  if (dataAddress === '') return 'none';
  try {
    const { target, tls } = parseGateway(dataAddress);
    return { target, tls: tls || gateway.tls };
  } catch {
    return 'none';
  }
}

export function dataClient({ target, tls }: GatewayAddress, { rootCertificates }: DataAccess): Client {
  const channel: ChannelCredentials = tls ? credentials.createSsl(rootCertificates) : credentials.createInsecure();
  return new Client(target, channel, {
    ...CHANNEL_OPTIONS,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
  });
}

/** `tenant`: the one that a worker of the fleet asks for. */
export function dataMetadata({ id, token }: DataAccess, tenant: string | null = null): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  metadata.set(WORKER_HEADER, id);
  if (tenant !== null) metadata.set(TENANT_HEADER, tenant);
  return metadata;
}

/**
 * Links between nodes over gRPC (see `peer.proto`). The caller proves with the key of the cluster who it is and which node
 * it wants. Both sides ping every second, so a half-open link closes within three seconds.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type ChannelCredentials, Client, Metadata, status } from '@grpc/grpc-js';
import type { NodeId } from '@signalbox/engine';
import { PEER_FORMAT, type PeerCaller, type PeerHandlers, type PeerLink, type PeerNetwork } from '@signalbox/host';
import { openPeerLink, type PeerClientStream, type PeerServerStream } from '@signalbox/protocol/grpc';
import type { Tell } from '../log.ts';
import { FrameWriter, readFrame, Watch } from './peer-frames.ts';

interface PeerNetworkOptions {
  readonly tokenKey: Buffer;
  readonly incarnation: string;
  /** Our own, as others know it. */
  readonly address: () => string;
  readonly credentials: ChannelCredentials;
  readonly tell: Tell;
}

export const PEER_MESSAGE_BYTES = 64 * 1024 * 1024;
const PING_MS = 1_000;
const SILENT_PINGS = 2;

const CHANNEL = {
  'grpc.max_receive_message_length': PEER_MESSAGE_BYTES,
  'grpc.max_send_message_length': PEER_MESSAGE_BYTES,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0,
} as const;

type Stream = PeerClientStream | PeerServerStream;
type OnLink = (caller: PeerCaller, link: PeerLink) => PeerHandlers;

export class GrpcPeerNetwork implements PeerNetwork {
  readonly #options: PeerNetworkOptions;
  #onLink: OnLink | null = null;

  constructor(options: PeerNetworkOptions) {
    this.#options = options;
  }

  listen(onLink: OnLink): void {
    this.#onLink = onLink;
  }

  open(address: string, self: PeerCaller, handlers: PeerHandlers): PeerLink {
    const client = new Client(address, this.#options.credentials, CHANNEL);
    const stream = openPeerLink(client, this.#metadata(address, self));
    return runLink(stream, handlers, {
      tell: this.#options.tell,
      onClosed: () => {
        stream.cancel();
        client.close();
      },
    });
  }

  /** A link that another node opens to this one. */
  accept(stream: PeerServerStream): void {
    stream.on('error', () => undefined);
    const caller = this.#callerOf(stream.metadata);
    const onLink = this.#onLink;
    if (caller === null || onLink === null) {
      const [code, details] =
        caller === null
          ? [status.UNAUTHENTICATED, 'The caller is no node of this cluster, or speaks another format.']
          : [status.UNAVAILABLE, 'The node is starting.'];
      stream.emit('error', { code, details });
      return;
    }
    let handlers: PeerHandlers | null = null;
    const link = runLink(
      stream,
      { onMessage: (message) => handlers?.onMessage(message), onClose: () => handlers?.onClose() },
      { tell: this.#options.tell, onClosed: () => stream.end() },
    );
    handlers = onLink(caller, link);
  }

  #metadata(address: string, { nodeId, session }: PeerCaller): Metadata {
    const metadata = new Metadata();
    metadata.set('signalbox-format', String(PEER_FORMAT));
    metadata.set('signalbox-node', nodeId);
    metadata.set('signalbox-session', String(session));
    metadata.set('signalbox-proof', this.#proof(address, nodeId, session).toString('base64url'));
    return metadata;
  }

  #callerOf(metadata: Metadata): PeerCaller | null {
    const text = (name: string): string => String(metadata.get(name)[0] ?? '');
    const [nodeId, session] = [text('signalbox-node'), Number(text('signalbox-session'))];
    if (!Number.isSafeInteger(session)) return null;
    const proof = Buffer.from(text('signalbox-proof'), 'base64url');
    const expected = this.#proof(this.#options.address(), nodeId, session);
    if (proof.length !== expected.length || !timingSafeEqual(proof, expected)) return null;
    if (text('signalbox-format') !== String(PEER_FORMAT)) {
      const { tell } = this.#options;
      tell('warn', 'A node speaks another format.', { nodeId, format: text('signalbox-format').slice(0, 20) });
      return null;
    }
    return { nodeId: nodeId as NodeId, session };
  }

  #proof(address: string, nodeId: string, session: number): Buffer {
    const { tokenKey, incarnation } = this.#options;
    const said = JSON.stringify(['peer', incarnation, address, nodeId, session]);
    return createHmac('sha256', tokenKey).update(said).digest();
  }
}

/** What both ends of a link do. */
function runLink(
  stream: Stream,
  handlers: PeerHandlers,
  { tell, onClosed }: { readonly tell: Tell; readonly onClosed: () => void },
): PeerLink {
  let isClosed = false;
  const close = (reason: string | null) => {
    if (isClosed) return;
    isClosed = true;
    watch.stop();
    writer.close();
    if (reason !== null) tell('info', 'A link to another node closed.', { reason });
    onClosed();
    // Not within the call that opened it: the host has no link to close yet.
    queueMicrotask(() => handlers.onClose());
  };
  const writer = new FrameWriter(
    (frame, written) => (stream as PeerClientStream).write(frame, written),
    () => close('the other node does not read'),
  );
  const watch = new Watch({
    everyMs: PING_MS,
    looks: SILENT_PINGS,
    onLook: () => writer.ping(),
    onSilence: () => close('nothing was heard'),
  });
  stream.on('data', (input: unknown) => {
    if (isClosed) return;
    watch.heard();
    try {
      for (const message of readFrame(input)) handlers.onMessage(message);
    } catch (error) {
      close(String(error));
    }
  });
  stream.on('error', (error: Error) => close(error.message));
  stream.on('end', () => close('the other node has ended it'));
  stream.on('cancelled', () => close('the other node has gone'));
  stream.on('close', () => close('the stream closed'));
  writer.ping();
  return { send: (message) => writer.send(message), close: () => close(null) };
}

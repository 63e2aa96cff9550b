/** The envelope of what servers say to each other: a frame of JSON. What is inside it is the host's business. */
import type { Client, ClientDuplexStream, Metadata, MethodDefinition, Server, ServerDuplexStream } from '@grpc/grpc-js';
import { isBytes, isRecord, refuse, requireFormat } from './check.ts';
import { loadMethod, WIRE_FORMAT } from './worker-proto.ts';

const link = loadMethod('peer.proto', 'signalbox.peer.v1.Peer', 'Link');

/** What is written is the JSON text of an array of messages, as bytes; what is read goes through `parseFrame`. */
const encodeFrame = (messages: Buffer): Buffer => link.requestSerialize({ format: WIRE_FORMAT, messages });

export type PeerServerStream = ServerDuplexStream<unknown, Buffer>;
export type PeerClientStream = ClientDuplexStream<Buffer, unknown>;

const linkMethod = {
  path: link.path,
  requestStream: true,
  responseStream: true,
  requestSerialize: encodeFrame,
  requestDeserialize: (bytes: Buffer): unknown => link.requestDeserialize(bytes),
  responseSerialize: encodeFrame,
  responseDeserialize: (bytes: Buffer): unknown => link.responseDeserialize(bytes),
} as const;

export function addPeer(server: Server, handle: (stream: PeerServerStream) => void): void {
  server.addService({ Link: linkMethod as MethodDefinition<unknown, unknown> }, { Link: handle });
}

export function openPeerLink(client: Client, metadata: Metadata): PeerClientStream {
  return client.makeBidiStreamRequest(
    linkMethod.path,
    linkMethod.requestSerialize,
    linkMethod.responseDeserialize,
    metadata,
  );
}

/** The messages of a frame, still as JSON bytes. */
export function parseFrame(input: unknown): Buffer {
  if (!isRecord(input)) return refuse('frame', 'is not a message');
  requireFormat(input.format);
  return isBytes(input.messages) ? input.messages : refuse('messages', 'are not bytes');
}

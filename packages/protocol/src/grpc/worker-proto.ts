/**
 * The worker's stream on the wire. What is written is a message's parts in the words of the domain; what is read is
 * `unknown` until `parseWorkerMessage` or `parseGatewayMessage` has looked at it.
 *
 * Reports, assignments and answers are written and read by hand (`wire/`), everything else by protobufjs.
 */
import { fileURLToPath } from 'node:url';
import type { Client, ClientDuplexStream, Metadata, MethodDefinition, Server, ServerDuplexStream } from '@grpc/grpc-js';
import { type MethodDefinition as LoadedMethod, loadSync, type ServiceDefinition } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { bookingText } from '../placement.ts';
import { writeAssignment } from './wire/assignment.ts';
import { writeAnswer, writeReport } from './wire/report.ts';
import { bytesTag } from './wire/tags.ts';
import { WireWriter } from './wire/wire-writer.ts';
import { WIRE_FORMAT } from './wire-format.ts';
import type { GatewayMessageParts, WorkerMessageParts } from './worker-messages.ts';

export { WIRE_FORMAT };

/** The most that one message may hold. Senders cut their batches far below it: see `MAX_BATCH_BYTES`. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Of what a worker says: the port is also that of other servers, whose messages are larger, and reading them takes long. */
export const MAX_WORKER_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Senders begin a new message when the payloads of this one have grown to so much, so that nothing waits long behind it. */
export const MAX_BATCH_BYTES = 1024 * 1024;
export const MAX_BATCH_ITEMS = 2_000;

/** The lists that are read and written by hand; see `wire/`. */
export const REPORTS = bytesTag(4);
export const ASSIGNMENTS = bytesTag(4);
export const ANSWERS = bytesTag(6);

/** Both ends take these; a message over the limit ends the stream, not the process. */
export const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
} as const;

/** `proto/` lies beside both `src` and `dist`. */
const protoPath = (file: string): string => fileURLToPath(new URL(`../../proto/${file}`, import.meta.url));

/** Loads one method of one file under `proto/`. */
export function loadMethod(file: string, service: string, method: string): LoadedMethod<object, object> {
  const loaded = loadSync(protoPath(file), { longs: Number, enums: String, defaults: true, arrays: true });
  const definition = (loaded[service] as ServiceDefinition | undefined)?.[method];
  if (definition === undefined) throw new Error(`${file} has no ${service}.${method}`);
  return definition;
}

/**
 * The messages of the stream, read and written without the copies that proto-loader makes on either side: its `toObject`
 * and `fromObject` took a third of the time. So a field that was not sent is the default of its message's prototype, an enum
 * is its number, and a 64-bit number is a `Long` (see `count`).
 */
const root = protobuf.loadSync(protoPath('worker.proto'));
const workerMessage = root.lookupType('signalbox.worker.v1.WorkerMessage');
const gatewayMessage = root.lookupType('signalbox.worker.v1.GatewayMessage');

/** Everything but what comes by the thousand goes the general way: `wire/` has the rest, in the same format. */
const write = (writer: WireWriter, type: protobuf.Type, message: object): void => {
  writer.raw(type.encode(message).finish());
};

/** One for all messages: each is written in one go. What is left of one that could not be written is not for the next. */
const writer = new WireWriter();

export function encodeWorkerMessage({ reports = [], ...parts }: WorkerMessageParts): Buffer {
  writer.reset();
  write(writer, workerMessage, {
    ...parts,
    format: WIRE_FORMAT,
    hello: parts.hello && {
      ...parts.hello,
      offers: parts.hello.offers === undefined ? '' : JSON.stringify(parts.hello.offers),
      holdBookings: parts.hello.holdBookings?.map(bookingText) ?? [],
    },
    heartbeat: parts.heartbeat && {
      ...parts.heartbeat,
      progress: parts.heartbeat.progress.map((told) => ({ ...told, fraction: told.fraction ?? -1 })),
    },
  });
  for (const report of reports) writeReport(writer, REPORTS, report);
  return writer.finish();
}

export function decodeWorkerMessage(bytes: Buffer): unknown {
  return workerMessage.decode(bytes);
}

export function encodeGatewayMessage({ assignments = [], answers = [], ...parts }: GatewayMessageParts): Buffer {
  writer.reset();
  write(writer, gatewayMessage, { ...parts, format: WIRE_FORMAT });
  for (const answer of answers) writeAnswer(writer, ANSWERS, answer);
  for (const assignment of assignments) writeAssignment(writer, ASSIGNMENTS, assignment);
  return writer.finish();
}

export function decodeGatewayMessage(bytes: Buffer): unknown {
  return gatewayMessage.decode(bytes);
}

/** For code that needs the bare definition; most want `addWorkerGateway` or `openWorkerStream`. */
export const connectMethod = {
  path: '/signalbox.worker.v1.WorkerGateway/Connect',
  requestStream: true,
  responseStream: true,
  requestSerialize: encodeWorkerMessage,
  /** Stays bytes: `parseWorkerMessage` decodes it, once it knows that it has not too many items. */
  requestDeserialize: (bytes: Buffer): unknown => {
    if (bytes.length <= MAX_WORKER_MESSAGE_BYTES) return bytes;
    throw new Error(`The message has more than ${MAX_WORKER_MESSAGE_BYTES} bytes.`);
  },
  responseSerialize: encodeGatewayMessage,
  /** Stays bytes as well, for `parseGatewayMessage`. */
  responseDeserialize: (bytes: Buffer): unknown => bytes,
} as const;

/** The gateway's end of one worker's stream. */
export type GatewayStream = ServerDuplexStream<unknown, GatewayMessageParts>;
/** The worker's end. */
export type WorkerStream = ClientDuplexStream<WorkerMessageParts, unknown>;

export function addWorkerGateway(server: Server, handle: (stream: GatewayStream) => void): void {
  server.addService({ Connect: connectMethod as MethodDefinition<unknown, unknown> }, { Connect: handle });
}

export function openWorkerStream(client: Client, metadata: Metadata): WorkerStream {
  return client.makeBidiStreamRequest(
    connectMethod.path,
    connectMethod.requestSerialize,
    connectMethod.responseDeserialize,
    metadata,
  );
}

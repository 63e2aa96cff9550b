/**
 * The bulk service on the wire: logs from workers, bundles to them. As with the worker's stream, what is written is in the
 * words of the domain, and what is read is `unknown` until its parser in `data-parse.ts` has looked at it.
 */
import type {
  Client,
  ClientDuplexStream,
  ClientReadableStream,
  ClientWritableStream,
  Metadata,
  MethodDefinition,
  Server,
  ServerDuplexStream,
  ServerReadableStream,
  ServerWritableStream,
  sendUnaryData,
} from '@grpc/grpc-js';
import type { BundleChunk, LogBatch, LogStream, OutputPart, OutputRequest } from './data-messages.ts';
import { orMalformed } from './malformed.ts';
import { loadMethod, WIRE_FORMAT } from './worker-proto.ts';

const SERVICE = 'signalbox.data.v1.WorkerData';
/** Metadata of each call: the id that the worker says hello with. */
export const WORKER_HEADER = 'signalbox-worker';
/** The tenant that a worker of the fleet fetches code for. */
export const TENANT_HEADER = 'signalbox-tenant';
const push = loadMethod('data.proto', SERVICE, 'PushLogs');
const fetch = loadMethod('data.proto', SERVICE, 'FetchBundle');
const fetchOut = loadMethod('data.proto', SERVICE, 'FetchOutput');
const storeOut = loadMethod('data.proto', SERVICE, 'StoreOutput');

const STREAM_NO = { stdout: 1, stderr: 2, log: 3, system: 4 } as const satisfies Record<LogStream, number>;

function encodeLogBatch({ no, pieces }: LogBatch): Buffer {
  return push.requestSerialize({
    format: WIRE_FORMAT,
    no,
    pieces: pieces.map(({ claim, token, firstLine, lines }) => ({
      ...claim,
      token,
      firstLine,
      lines: lines.map(({ at, stream, text }) => ({ at, stream: STREAM_NO[stream], text })),
    })),
  });
}

/** Written is the number of the last batch that is stored with all before it. */
export const pushLogsMethod = {
  path: push.path,
  requestStream: true,
  responseStream: true,
  requestSerialize: encodeLogBatch,
  requestDeserialize: orMalformed((bytes) => push.requestDeserialize(bytes)),
  responseSerialize: (storedNo: number): Buffer => push.responseSerialize({ no: storedNo }),
  responseDeserialize: (bytes: Buffer): unknown => push.responseDeserialize(bytes),
} as const;

/** Asked for is the hash; a bundle that does not exist ends the call with NOT_FOUND. */
export const fetchBundleMethod = {
  path: fetch.path,
  requestStream: false,
  responseStream: true,
  requestSerialize: (hash: string): Buffer => fetch.requestSerialize({ format: WIRE_FORMAT, hash }),
  requestDeserialize: orMalformed((bytes) => fetch.requestDeserialize(bytes)),
  responseSerialize: (chunk: Partial<BundleChunk>): Buffer => fetch.responseSerialize(chunk),
  responseDeserialize: (bytes: Buffer): unknown => fetch.responseDeserialize(bytes),
} as const;

/** Written are bytes of JSON; an id that is not of this claim ends the call with FAILED_PRECONDITION. */
export const fetchOutputMethod = {
  path: fetchOut.path,
  requestStream: false,
  responseStream: true,
  requestSerialize: ({ claim, token, id }: OutputRequest): Buffer =>
    fetchOut.requestSerialize({ format: WIRE_FORMAT, ...claim, token, id }),
  requestDeserialize: orMalformed((bytes) => fetchOut.requestDeserialize(bytes)),
  responseSerialize: (json: Buffer): Buffer => fetchOut.responseSerialize({ json }),
  responseDeserialize: (bytes: Buffer): unknown => fetchOut.responseDeserialize(bytes),
} as const;

/** Answered is the reference that goes into the report. */
export const storeOutputMethod = {
  path: storeOut.path,
  requestStream: true,
  responseStream: false,
  requestSerialize: ({ head, json }: OutputPart): Buffer =>
    storeOut.requestSerialize(
      head === null
        ? { json }
        : { format: WIRE_FORMAT, ...head.claim, token: head.token, taskName: head.taskName, json },
    ),
  requestDeserialize: orMalformed((bytes) => storeOut.requestDeserialize(bytes)),
  responseSerialize: (reference: string): Buffer => storeOut.responseSerialize({ reference }),
  responseDeserialize: (bytes: Buffer): unknown => storeOut.responseDeserialize(bytes),
} as const;

/** The server's end: `request` goes through `parseOutputRequest`. */
export type OutputServerStream = ServerWritableStream<unknown, Buffer>;
/** The server's end: reads through `parseOutputPart`. */
export type StoreServerStream = ServerReadableStream<unknown, string>;
/** The worker's end: reads through `parseOutputChunk`. */
export type OutputClientStream = ClientReadableStream<unknown>;

/** The server's end: reads through `parseLogBatch`, writes numbers of batches that are stored. */
export type LogServerStream = ServerDuplexStream<unknown, number>;
/** The server's end: `request` goes through `parseBundleRequest`. */
export type BundleServerStream = ServerWritableStream<unknown, Partial<BundleChunk>>;
/** The worker's end: reads through `parseLogStored`. */
export type LogClientStream = ClientDuplexStream<LogBatch, unknown>;
/** The worker's end: reads through `parseBundleChunk`. */
export type BundleClientStream = ClientReadableStream<unknown>;

export function addWorkerData(
  server: Server,
  handle: {
    readonly pushLogs: (stream: LogServerStream) => void;
    readonly fetchBundle: (stream: BundleServerStream) => void;
    readonly fetchOutput: (stream: OutputServerStream) => void;
    readonly storeOutput: (stream: StoreServerStream, answer: sendUnaryData<string>) => void;
  },
): void {
  server.addService(
    {
      PushLogs: pushLogsMethod as MethodDefinition<unknown, unknown>,
      FetchBundle: fetchBundleMethod as MethodDefinition<unknown, unknown>,
      FetchOutput: fetchOutputMethod as MethodDefinition<unknown, unknown>,
      StoreOutput: storeOutputMethod as MethodDefinition<unknown, unknown>,
    },
    {
      PushLogs: handle.pushLogs,
      FetchBundle: handle.fetchBundle,
      FetchOutput: handle.fetchOutput,
      StoreOutput: handle.storeOutput,
    },
  );
}

export function openLogStream(client: Client, metadata: Metadata): LogClientStream {
  return client.makeBidiStreamRequest(
    pushLogsMethod.path,
    pushLogsMethod.requestSerialize,
    pushLogsMethod.responseDeserialize,
    metadata,
  );
}

export function openBundleFetch(client: Client, hash: string, metadata: Metadata): BundleClientStream {
  return client.makeServerStreamRequest(
    fetchBundleMethod.path,
    fetchBundleMethod.requestSerialize,
    fetchBundleMethod.responseDeserialize,
    hash,
    metadata,
  );
}

export function openOutputFetch(client: Client, request: OutputRequest, metadata: Metadata): OutputClientStream {
  return client.makeServerStreamRequest(
    fetchOutputMethod.path,
    fetchOutputMethod.requestSerialize,
    fetchOutputMethod.responseDeserialize,
    request,
    metadata,
  );
}

/** The answer goes through `parseStoredOutput`. */
export function openOutputStore(
  client: Client,
  metadata: Metadata,
  answer: (error: Error | null, stored?: unknown) => void,
): ClientWritableStream<OutputPart> {
  return client.makeClientStreamRequest(
    storeOutputMethod.path,
    storeOutputMethod.requestSerialize,
    storeOutputMethod.responseDeserialize,
    metadata,
    answer,
  );
}

/** The envelope of what servers ask each other about logs: JSON. What is inside it is the server's business. */
import type { Client, Metadata, MethodDefinition, Server, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { isBytes, isRecord, refuse, requireFormat } from './check.ts';
import { loadMethod, WIRE_FORMAT } from './worker-proto.ts';

const read = loadMethod('node.proto', 'signalbox.node.v1.NodeLogs', 'ReadLogs');

const encode = (body: Buffer): Buffer => read.requestSerialize({ format: WIRE_FORMAT, body });

const readLogsMethod = {
  path: read.path,
  requestStream: false,
  responseStream: false,
  requestSerialize: encode,
  requestDeserialize: (bytes: Buffer): unknown => read.requestDeserialize(bytes),
  responseSerialize: encode,
  responseDeserialize: (bytes: Buffer): unknown => read.responseDeserialize(bytes),
} as const;

export type ReadLogsCall = ServerUnaryCall<unknown, Buffer>;

export function addNodeLogs(server: Server, handle: (call: ReadLogsCall, answer: sendUnaryData<Buffer>) => void): void {
  server.addService({ ReadLogs: readLogsMethod as MethodDefinition<unknown, unknown> }, { ReadLogs: handle });
}

/** Rejects when no answer came in time. */
export function askNodeLogs(client: Client, body: Buffer, metadata: Metadata, withinMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      readLogsMethod.path,
      readLogsMethod.requestSerialize,
      readLogsMethod.responseDeserialize,
      body,
      metadata,
      { deadline: Date.now() + withinMs },
      (error, answer) => {
        if (error !== null) return reject(error);
        try {
          resolve(parseEnvelope(answer));
        } catch (fault) {
          reject(fault);
        }
      },
    );
  });
}

export function parseEnvelope(input: unknown): Buffer {
  if (!isRecord(input)) return refuse('envelope', 'is not a message');
  requireFormat(input.format);
  return isBytes(input.body) ? input.body : refuse('body', 'is not bytes');
}

/**
 * Messages that have begun to arrive and are not complete stay in memory for as long as their sender likes. Each has a limit
 * that depends on its method, and all of a port together have another (I68). When the total is exceeded, the largest one
 * loses its stream: honest senders split their messages at a megabyte.
 *
 * gRPC has one limit for all methods of a port and none for all messages together. So this code looks at the bytes as they
 * arrive and at the progress of the stream's decoder. These are not part of gRPC's public types, so they are checked here.
 */
import type { Http2Stream } from 'node:http2';
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';

interface UnfinishedLimits {
  /** The longest message of a method, by its path; null: not looked at. */
  readonly longest: (path: string) => number | null;
  /** Of all that are looked at. */
  readonly totalBytes: number;
}

interface Decoder {
  maxReadMessageLength: number;
  readonly readState: number;
  readonly readMessageSize: number;
  readonly readMessageRemaining: number;
}

const READING_MESSAGE = 2;

interface Arriving {
  readonly call: ServerInterceptingCallInterface;
  bytes: number;
  /** Dropped, or closed: what still arrives is thrown away, and counts for nothing. */
  isOver: boolean;
}

export function boundUnfinished({ longest, totalBytes }: UnfinishedLimits): ServerInterceptor {
  const arriving = new Set<Arriving>();
  let total = 0;

  const note = (one: Arriving, bytes: number): void => {
    total += bytes - one.bytes;
    one.bytes = bytes;
    if (bytes === 0) arriving.delete(one);
    else arriving.add(one);
  };
  const dropLargest = (): void => {
    let largest: Arriving | null = null;
    for (const one of arriving) if (largest === null || one.bytes > largest.bytes) largest = one;
    if (largest === null) return;
    note(largest, 0);
    largest.isOver = true;
    const details = 'The server has too many messages that are not whole yet. Send them in one go, or fewer at a time.';
    largest.call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details });
  };

  return ({ path }, call) => {
    const most = longest(path);
    if (most === null) return new ServerInterceptingCall(call);
    const { stream, decoder } = insideOf(call);
    decoder.maxReadMessageLength = most;
    const one: Arriving = { call, bytes: 0, isOver: false };
    // After the decoder's own listener. The stream is paused until it is read: this listener does not change that.
    stream.on('data', () => {
      const isWhole = one.isOver || decoder.readState !== READING_MESSAGE;
      const bytes = isWhole ? 0 : decoder.readMessageSize - decoder.readMessageRemaining;
      if (bytes !== one.bytes) note(one, bytes);
      while (total > totalBytes) dropLargest();
    });
    stream.once('close', () => {
      one.isOver = true;
      note(one, 0);
    });
    return new ServerInterceptingCall(call);
  };
}

function insideOf(call: ServerInterceptingCallInterface): { stream: Http2Stream; decoder: Decoder } {
  const { stream, decoder } = call as unknown as { stream?: Http2Stream; decoder?: Partial<Decoder> };
  if (stream === undefined || typeof decoder?.maxReadMessageLength !== 'number' || decoder.readState === undefined) {
    throw new Error('This version of @grpc/grpc-js keeps its streams otherwise: messages could not be bounded.');
  }
  return { stream, decoder: decoder as Decoder };
}

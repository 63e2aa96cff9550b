/**
 * The event stream as messages. It is the stream of REST, read inside the process: who may read it, how many may, and when it ends is
 * decided there.
 */
import type { ServerWritableStream } from '@grpc/grpc-js';
import { SignalboxError } from '@signalbox/protocol';
import { isDrained } from './drained.ts';
import { asJson, given, type Message, refuseMalformed, text } from './message.ts';
import {
  callRest,
  type RestAnswer,
  type RestPorts,
  RestRefusal,
  type RestRequest,
  statusOf,
  streamRest,
} from './rest-call.ts';

type EventStream = ServerWritableStream<Message, object>;

const PATH = '/v1/events';

export async function followEvents(stream: EventStream, ports: RestPorts): Promise<void> {
  const gone = new AbortController();
  for (const end of ['error', 'cancelled', 'close']) stream.on(end, () => gone.abort());
  try {
    const frames = framesOf(await streamRest(ports, stream, requestOf(stream.request), gone.signal));
    for await (const frame of frames) {
      if (gone.signal.aborted) return;
      const isTaken = stream.write(messageOf(frame));
      if (!isTaken && !(await isDrained(stream, gone.signal)))
        throw new SignalboxError('OVERLOADED', { retryAfterMs: 5_000 });
    }
    throw await reasonOf(stream, ports);
  } catch (error) {
    if (gone.signal.aborted) return;
    const isKnown = error instanceof SignalboxError || error instanceof RestRefusal;
    stream.emit('error', statusOf(isKnown ? error : await reasonOf(stream, ports), ports.logger));
  } finally {
    gone.abort(); // Gives its place to the next.
  }
}

/** By itself the stream never ends: the credential has (I66), or the server is about to. */
async function reasonOf(stream: EventStream, ports: RestPorts): Promise<unknown> {
  const anyQuestion: RestRequest = { method: 'GET', path: PATH, query: { limit: 1 } };
  const refusal = await callRest(ports, stream, anyQuestion).then(
    () => null,
    (error: unknown) => error,
  );
  const reason = 'the stream was ended: continue after the last cursor';
  return refusal ?? new SignalboxError('UNAVAILABLE', { reason, retryAfterMs: 1_000 });
}

function requestOf(message: Message): RestRequest {
  refuseMalformed(message);
  return {
    method: 'GET',
    path: PATH,
    query: { ...given(message, 'dag', 'kind', 'after', 'from'), run: text(message, 'runId') },
  };
}

interface Frame {
  readonly id: string;
  readonly data: string;
}

/** Frames as REST writes them: a few lines, and an empty one. */
async function* framesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const value = (name: string) =>
        part
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? '';
      yield { id: value('id'), data: value('data') };
    }
  }
}

function messageOf({ id: cursor, data }: Frame): object {
  if (data === '') return { cursor };
  const { run, details, ...event } = JSON.parse(data) as RestAnswer;
  return { cursor, ...event, runId: run, detailsJson: asJson(details) };
}

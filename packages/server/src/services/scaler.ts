/**
 * Tells KEDA how many workers a queue wants. KEDA sends no headers, so the token is in the message: `tokenFromEnv` of the trigger
 * names a variable of the workers, and KEDA sends its value. It is checked as REST checks it, and needs to read queues only.
 */
import {
  Metadata,
  type Server,
  type ServerErrorResponse,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { type QueuePage, type QueueView, SignalboxError } from '@signalbox/protocol';
import { loadService, type OfferedService, SCALER_SERVICE } from '@signalbox/protocol/grpc';
import { callRest, type RestPorts, statusOf } from './api/rest-call.ts';
import { Watchers } from './watchers.ts';

interface ScaledObject {
  readonly scalerMetadata: Readonly<Record<string, string>>;
}
interface MetricsAsked {
  readonly scaledObjectRef: ScaledObject | null;
  readonly metricName: string;
}
type Peer = Pick<ServerUnaryCall<unknown, unknown>, 'getPeer' | 'metadata'>;

/** What waits for a slot, and what has one. */
const METRIC = 'signalbox-tasks';
const MOST_SLOTS = 100_000;

export function addScaler(server: Server, ports: RestPorts): OfferedService {
  const service = loadService('scaler.proto', SCALER_SERVICE);
  const watchers = new Watchers();
  const refuse = (error: unknown) => withProblems(statusOf(error, ports.logger), error);

  const queueOf = async (call: Peer, asked: ScaledObject | null): Promise<QueueView | null> => {
    const told = asked?.scalerMetadata ?? {};
    const page = await callRest(ports, withToken(call, told), { method: 'GET', path: '/v1/queues' });
    const { items, missing } = page as unknown as QueuePage;
    // Too low a count would have workers removed that are needed. KEDA keeps what there is when it gets no answer.
    if (missing.length > 0) throw new SignalboxError('UNAVAILABLE', { reason: `${missing.join(', ')} gave no answer` });
    const name = told.queue ?? 'default';
    return items.find((queue) => queue.name === name) ?? null;
  };
  const unary =
    <Asked, Told>(answer: (call: ServerUnaryCall<Asked, Told>) => Promise<Told>) =>
    (call: ServerUnaryCall<Asked, Told>, send: sendUnaryData<Told>): void => {
      answer(call).then(
        (told) => send(null, told),
        (error: unknown) => send(refuse(error)),
      );
    };
  const isActive = async (call: Peer, asked: ScaledObject) => ({ result: tasksOf(await queueOf(call, asked)) > 0 });

  server.addService(service.definition, {
    IsActive: unary<ScaledObject, object>((call) => isActive(call, call.request)),
    StreamIsActive: (stream: ServerWritableStream<ScaledObject, object>) =>
      watchers.add(stream, () => isActive(stream, stream.request), refuse),
    GetMetricSpec: unary<ScaledObject, object>(async (call) => {
      const target = slotsOf(call.request, await queueOf(call, call.request));
      const spec = { metricName: METRIC, targetSize: Math.max(1, Math.round(target)), targetSizeFloat: target };
      return { metricSpecs: [spec] };
    }),
    GetMetrics: unary<MetricsAsked, object>(async (call) => {
      const { metricName, scaledObjectRef } = call.request;
      if (metricName !== METRIC && metricName !== '') throw wrong('metricName', `must be "${METRIC}"`);
      const tasks = tasksOf(await queueOf(call, scaledObjectRef));
      return { metricValues: [{ metricName: METRIC, metricValue: tasks, metricValueFloat: tasks }] };
    }),
  });
  return service;
}

/** What a limit holds back would not start on another worker. */
function tasksOf(queue: QueueView | null): number {
  return queue === null ? 0 : queue.waiting - queue.held + queue.running;
}

/** As told; otherwise as the workers that are there have on average. */
function slotsOf({ scalerMetadata }: ScaledObject, queue: QueueView | null): number {
  const told = scalerMetadata.slotsPerWorker;
  if (told === undefined) return queue === null || queue.workers === 0 ? 1 : queue.slots / queue.workers;
  const slots = Number(told);
  if (Number.isInteger(slots) && slots >= 1 && slots <= MOST_SLOTS) return slots;
  throw wrong('slotsPerWorker', `must be a whole number from 1 to ${MOST_SLOTS}`);
}

function withToken(call: Peer, { token, tokenFromEnv }: Readonly<Record<string, string>>): Peer {
  const own = tokenFromEnv ?? token;
  if (own === undefined || call.metadata.get('authorization').length > 0) return call;
  const metadata = new Metadata();
  try {
    metadata.set('authorization', `Bearer ${own}`);
  } catch {
    throw wrong('tokenFromEnv', 'must be a token of Signalbox');
  }
  return { metadata, getPeer: () => call.getPeer() };
}

/** KEDA logs the text of a status and nothing else, so what is wrong must be in it. */
function withProblems(refusal: ServerErrorResponse, error: unknown): ServerErrorResponse {
  const problems = error instanceof SignalboxError ? (error.body().problems ?? []) : [];
  if (problems.length === 0) return refusal;
  const details = problems.map(({ path, message }) => `${path} ${message}.`).join(' ');
  return Object.assign(refusal, { details });
}

function wrong(path: string, message: string): SignalboxError {
  return new SignalboxError('BAD_REQUEST', { problems: [{ path, message }] });
}

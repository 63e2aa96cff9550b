/** As KEDA calls it: no headers, the token in the message. */
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { loadService, SCALER_SERVICE } from '@signalbox/protocol/grpc';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let client: Client;
beforeAll(async () => {
  rig = await startRig();
  client = new Client(rig.servers[0]?.servicesAddress ?? '', credentials.createInsecure());
  await rig.addWorker({ hold }, { name: 'one', slots: 2, queues: ['default'] });
  const tasks = Array.from({ length: 5 }, (_, no) => ({ name: `t${no}`, handler: 'hold' }));
  await rig.client().deployDag({ name: 'crowd', tasks });
});
afterAll(async () => {
  client.close();
  await rig.stop();
});

const hold = ({ signal }: { signal: AbortSignal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const scaler = loadService('scaler.proto', SCALER_SERVICE);
const scaled = (told: Readonly<Record<string, string>> = {}) => ({
  name: 'workers',
  namespace: 'jobs',
  scalerMetadata: { tokenFromEnv: rig.token, scalerAddress: 'signalbox:4502', ...told },
});

function call(name: string, message: object): Promise<Record<string, unknown>> {
  const { path, requestSerialize, responseDeserialize } = scaler.definition[name]!;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, new Metadata(), (error, answer) =>
      error === null ? resolve(answer as Record<string, unknown>) : reject(error),
    );
  });
}

async function refusalOf(name: string, message: object): Promise<ServiceError> {
  return call(name, message).then(
    () => expect.fail('was answered'),
    (error: unknown) => error as ServiceError,
  );
}

const metric = (count: number) => ({
  metricValues: [{ metricName: 'signalbox-tasks', metricValue: count, metricValueFloat: count }],
});
const spec = (size: number) => ({
  metricSpecs: [{ metricName: 'signalbox-tasks', targetSize: size, targetSizeFloat: size }],
});

test('a queue is as large as what waits and runs in it, a worker as large as its slots', async () => {
  expect(await call('IsActive', scaled())).toEqual({ result: false });
  const { id } = await rig.client().submit('crowd');
  const metrics = (told = {}) => call('GetMetrics', { scaledObjectRef: scaled(told), metricName: 'signalbox-tasks' });
  await expect.poll(metrics, { timeout: 15_000 }).toEqual(metric(5));
  expect(await metrics({ queue: 'gpu' })).toEqual(metric(0));
  expect(await call('IsActive', scaled())).toEqual({ result: true });
  expect(await call('GetMetricSpec', scaled())).toEqual(spec(2));
  expect(await call('GetMetricSpec', scaled({ slotsPerWorker: '8' }))).toEqual(spec(8));
  expect(await call('GetMetricSpec', scaled({ queue: 'gpu' }))).toEqual(spec(1));
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
  await expect.poll(metrics, { timeout: 15_000 }).toEqual(metric(0));
});

test('whether there is anything to do is told at once and when it changes', async () => {
  const { path, requestSerialize, responseDeserialize } = scaler.definition.StreamIsActive!;
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, scaled(), new Metadata());
  const told: unknown[] = [];
  stream.on('data', (one) => told.push(one));
  stream.on('error', () => undefined);
  await expect.poll(() => told, { timeout: 15_000 }).toEqual([{ result: false }]);
  const { id } = await rig.client().submit('crowd');
  await expect.poll(() => told, { timeout: 15_000 }).toEqual([{ result: false }, { result: true }]);
  await rig.ask('POST', `/v1/runs/${id}/cancel`, {});
  await expect.poll(() => told, { timeout: 15_000 }).toEqual([{ result: false }, { result: true }, { result: false }]);
  stream.cancel();
});

test.each([
  ['no token', 'IsActive', { tokenFromEnv: '' }, status.UNAUTHENTICATED],
  ['a wrong token', 'GetMetrics', { tokenFromEnv: 'sb_nonsense' }, status.UNAUTHENTICATED],
  ['a token that is none', 'IsActive', { tokenFromEnv: 'two\nlines' }, status.INVALID_ARGUMENT],
  ['a size that is none', 'GetMetricSpec', { slotsPerWorker: 'many' }, status.INVALID_ARGUMENT],
] as const)('%s is refused (I66)', async (_what, name, told, code) => {
  const message = name === 'GetMetrics' ? { scaledObjectRef: scaled(told), metricName: '' } : scaled(told);
  expect((await refusalOf(name, message)).code).toBe(code);
});

test('a metric that there is not is refused', async () => {
  const refusal = await refusalOf('GetMetrics', { scaledObjectRef: scaled(), metricName: 'rabbits' });
  expect([refusal.code, refusal.details]).toEqual([
    status.INVALID_ARGUMENT,
    expect.stringContaining('signalbox-tasks'),
  ]);
});

test('a stranger may send a short message only (I68)', async () => {
  const refusal = await refusalOf('IsActive', scaled({ note: 'x'.repeat(100_000) }));
  expect(refusal.code).toBe(status.RESOURCE_EXHAUSTED);
});

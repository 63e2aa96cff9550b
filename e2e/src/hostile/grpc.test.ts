/** Hostile requests over gRPC, with their answers: a canonical status, a code and a remedy, nothing stored, never INTERNAL or a hang. */
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { API_SERVICE, loadService } from '@signalbox/protocol/grpc';
import { type Rig, startRig } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE_DEFINITIONS, HUGE_DEFINITIONS } from './definitions.ts';
import { stored } from './stored.ts';

const api = loadService('api.proto', API_SERVICE);
const PATIENCE_MS = 10_000;

let rig: Rig;
let client: Client;

beforeAll(async () => {
  rig = await startRig();
  client = new Client((rig.servers[0] as { servicesAddress: string }).servicesAddress, credentials.createInsecure());
  const known = { name: 'known', tasks: [{ name: 'a', handler: 'h' }] };
  expect((await rig.ask('PUT', '/v1/dags/known', known)).status).toBeLessThan(300);
});

afterAll(async () => {
  expect((await rig.ask('GET', '/readyz')).status).toBe(200);
  client.close();
  await rig.stop();
});

function bearer(token: string): Metadata {
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', token);
  return metadata;
}

/** What the call was refused with; fails when it was not. */
function refusalOf(name: string, message: object, metadata = bearer(`Bearer ${rig.token}`)): Promise<ServiceError> {
  const method = api.definition[name];
  if (method === undefined) throw new Error(`there is no method ${name}`);
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + PATIENCE_MS };
    const done = (error: ServiceError | null) => (error === null ? reject(new Error('it was taken')) : resolve(error));
    if (!method.responseStream) {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, options, done);
      return;
    }
    const stream = client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      message,
      metadata,
      options,
    );
    stream.on('data', () => undefined);
    stream.on('end', () => done(null));
    stream.on('error', (error) => done(error as ServiceError));
  });
}

const told = ({ metadata }: ServiceError) => String(metadata.get('signalbox-code')[0] ?? '');

describe('definitions', () => {
  test.each([...HOSTILE_DEFINITIONS, ...HUGE_DEFINITIONS].map((row) => [row.name, row] as const))(
    '%s is refused (I38)',
    async (_, { definition }) => {
      const before = await stored(rig);
      const error = await refusalOf('RegisterDag', { definitionJson: JSON.stringify(definition) });
      expect(status[error.code]).toBe('INVALID_ARGUMENT');
      expect(told(error)).toMatch(/^(DAG_INVALID|SCHEDULE_INVALID)$/);
      expect(String(error.metadata.get('signalbox-remedy')[0])).toMatch(/\S/);
      expect(await stored(rig)).toEqual(before);
    },
  );
});

const missing = '01977d1d-ec44-72ba-971f-f8e0cd00001f';
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

type Row = readonly [name: string, method: string, message: object, status: keyof typeof status, code: string];
const rows: readonly Row[] = [
  ['no definition', 'RegisterDag', {}, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['a definition that is no JSON', 'RegisterDag', { definitionJson: '{' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  [
    'a definition of 10,000 brackets',
    'RegisterDag',
    { definitionJson: nested(10_000) },
    'INVALID_ARGUMENT',
    'BAD_REQUEST',
  ],
  ['a definition of null', 'RegisterDag', { definitionJson: 'null' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  [
    'an update of nothing',
    'UpdateDag',
    { definitionJson: '{"name":"ghost","tasks":[{"name":"a","run":"x"}]}' },
    'NOT_FOUND',
    'DAG_NOT_FOUND',
  ],
  ['a delete of nothing', 'DeleteDag', { name: 'ghost' }, 'NOT_FOUND', 'DAG_NOT_FOUND'],
  ['a delete of a path', 'DeleteDag', { name: '../..' }, 'NOT_FOUND', 'DAG_NOT_FOUND'],
  ['a look at SQL', 'GetDag', { name: "'; drop table run; --" }, 'NOT_FOUND', 'DAG_NOT_FOUND'],
  ['a run of nothing', 'TriggerRun', { dag: 'ghost' }, 'NOT_FOUND', 'DAG_NOT_FOUND'],
  ['a run without a dag', 'TriggerRun', {}, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['params that are no JSON', 'TriggerRun', { dag: 'known', paramsJson: '{a:1}' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['params 65 deep', 'TriggerRun', { dag: 'known', paramsJson: nested(65) }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  [
    'params of 300 KiB',
    'TriggerRun',
    { dag: 'known', paramsJson: `"${'x'.repeat(300 * 1024)}"` },
    'INVALID_ARGUMENT',
    'BAD_REQUEST',
  ],
  ['an unknown priority', 'TriggerRun', { dag: 'known', priority: 'asap' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  [
    'a key with a line break',
    'TriggerRun',
    { dag: 'known', idempotencyKey: 'a\nb' },
    'INVALID_ARGUMENT',
    'BAD_REQUEST',
  ],
  [
    'a key of 300 characters',
    'TriggerRun',
    { dag: 'known', idempotencyKey: 'k'.repeat(300) },
    'INVALID_ARGUMENT',
    'BAD_REQUEST',
  ],
  ['the status of no id', 'GetRunStatus', { runId: 'x' }, 'NOT_FOUND', 'RUN_NOT_FOUND'],
  ['the status of nothing', 'GetRunStatus', { runId: missing }, 'NOT_FOUND', 'RUN_NOT_FOUND'],
  ['a cancel of nothing', 'CancelRun', { runId: missing }, 'NOT_FOUND', 'RUN_NOT_FOUND'],
  ['the tasks of nothing', 'ListTasks', { runId: missing }, 'NOT_FOUND', 'RUN_NOT_FOUND'],
  ['a retry of nothing', 'RetryTask', { runId: missing, task: 'a' }, 'NOT_FOUND', 'RUN_NOT_FOUND'],
  ['the log of nothing', 'GetTaskLogs', { runId: missing, task: 'a' }, 'NOT_FOUND', 'RUN_NOT_FOUND'],
  ['a page of 4 billion', 'ListRuns', { limit: 4_294_967_295 }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['a cursor that was made up', 'ListRuns', { cursor: 'abc' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['an unknown state', 'ListRuns', { state: 'done' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['an event with a path', 'SignalEvent', { name: '../x' }, 'INVALID_ARGUMENT', 'BAD_REQUEST'],
  ['a drain of nobody', 'DrainWorker', { workerId: 'ghost' }, 'NOT_FOUND', 'WORKER_NOT_FOUND'],
];

describe('requests', () => {
  test.each(rows)('%s', async (...row) => {
    const [, method, message, expected, code] = row as unknown as Row;
    const before = await stored(rig);
    const error = await refusalOf(method, message);
    expect({ status: status[error.code], code: told(error) }).toEqual({ status: expected, code });
    expect(await stored(rig)).toEqual(before);
  });

  test.each([
    ['no credential', ''],
    ['a credential that was made up', 'Bearer sbx_0000000000000000000000'],
    ['another scheme', 'Basic YTpi'],
  ])('%s', async (_, authorization) => {
    for (const name of Object.keys(api.definition)) {
      const error = await refusalOf(name, {}, bearer(authorization));
      expect({ name, status: status[error.code] }).toEqual({ name, status: 'UNAUTHENTICATED' });
    }
  });

  test('a message of 20 MiB', async () => {
    const error = await refusalOf('TriggerRun', { dag: 'known', paramsJson: 'x'.repeat(20 * 1024 * 1024) });
    expect(status[error.code]).toBe('RESOURCE_EXHAUSTED');
  });

  test('bytes that are no message of ours', async () => {
    const { path } = api.definition.TriggerRun as { path: string };
    const error = await new Promise<ServiceError | null>((resolve) => {
      const garbage = (bytes: Buffer) => bytes;
      const options = { deadline: Date.now() + PATIENCE_MS };
      const metadata = bearer(`Bearer ${rig.token}`);
      client.makeUnaryRequest(path, garbage, garbage, Buffer.from([0xff, 0xff, 0xff]), metadata, options, resolve);
    });
    expect(['INVALID_ARGUMENT', 'INTERNAL']).toContain(status[error?.code ?? 0]);
    expect((await rig.ask('GET', '/readyz')).status).toBe(200);
  });
});

describe('bytes that are no message', () => {
  const garbage = [['tags without end', Buffer.from('fffffffffffffffffffffffffffffffffffff0', 'hex')]] as const;
  test.each(garbage)('%s is INVALID_ARGUMENT, at every method', async (_, bytes) => {
    for (const [name, { path, responseDeserialize, responseStream }] of Object.entries(api.definition)) {
      const error = await new Promise<ServiceError | null>((resolve) => {
        const options = { deadline: Date.now() + PATIENCE_MS };
        const metadata = bearer(`Bearer ${rig.token}`);
        const raw = (input: Buffer) => input;
        if (!responseStream) {
          client.makeUnaryRequest(path, raw, responseDeserialize, bytes, metadata, options, (failure) =>
            resolve(failure),
          );
          return;
        }
        const stream = client.makeServerStreamRequest(path, raw, responseDeserialize, bytes, metadata, options);
        stream.on('data', () => undefined);
        stream.on('end', () => resolve(null));
        stream.on('error', (failure) => resolve(failure as ServiceError));
      });
      expect([name, error?.code]).toEqual([name, status.INVALID_ARGUMENT]);
    }
  });
});

describe('names that would lead to another path', () => {
  test.each(['', '.', '..'])('%j is refused', async (bad) => {
    expect((await refusalOf('CancelRun', { runId: bad })).code).toBe(status.INVALID_ARGUMENT);
    expect((await refusalOf('GetTaskLogs', { runId: bad, task: 'a' })).code).toBe(status.INVALID_ARGUMENT);
    expect((await refusalOf('GetTaskLogs', { runId: '01977d1d-ec44-72ba-971f-f8e0cd00001f', task: bad })).code).toBe(
      status.INVALID_ARGUMENT,
    );
  });
});

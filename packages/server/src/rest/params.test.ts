import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.addServer();
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
});
afterAll(() => rig.stop());

const clientOf = (server: number) => createClient({ url: rig.servers[server]?.url ?? '', token: rig.token });
const schemaOf = (least: number) => ({
  type: 'object',
  properties: { day: { type: 'string', format: 'date' }, cups: { type: 'integer', minimum: least, default: 7 } },
  required: ['day'],
  additionalProperties: false,
});
const deploy = (name: string, more: object) =>
  rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'echo' }], ...more });

test('params are checked when a run is submitted, and defaults filled in (I12)', async () => {
  await deploy('brew', { params: schemaOf(1) });
  const client = clientOf(0);
  const { id } = await client.submit('brew', { params: { day: '2026-11-16' } });
  expect(await client.waitForRun(id)).toMatchObject({ params: { day: '2026-11-16', cups: 7 }, outcome: 'succeeded' });
  for (const [params, path] of [
    [null, 'params.day'],
    [{ day: 'today' }, 'params.day'],
    [{ day: '2026-11-16', cups: 0 }, 'params.cups'],
    [{ day: '2026-11-16', cusp: 2 }, 'params.cusp'],
  ] as const) {
    const refusal = await rig.ask('POST', '/v1/dags/brew/runs', { params });
    expect(refusal).toMatchObject({ status: 422, body: { code: 'PARAMS_INVALID', problems: [{ path }] } });
  }
  const batch = { runs: [{ params: { day: '2026-11-16' } }, { params: { day: 3 } }] };
  expect(await rig.ask('POST', '/v1/dags/brew/runs/batch', batch)).toMatchObject({
    status: 422,
    body: { problems: [{ path: 'runs[1].params.day', message: 'must be a string, not a number' }] },
  });
  expect((await client.listRuns({ dag: 'brew' })).items).toHaveLength(1);
  expect(await rig.ask('GET', '/v1/dags/brew')).toMatchObject({ body: { params: schemaOf(1) } });
});

test('a version that came since at another server decides, whatever was looked up before', async () => {
  await deploy('moving', { params: schemaOf(1) });
  const [here, there] = [clientOf(0), clientOf(1)];
  const params = { day: '2026-11-16', cups: 3 };
  await Promise.all([here.submit('moving', { params }), there.submit('moving', { params })]);
  await deploy('moving', { params: schemaOf(5) });
  await expect(there.submit('moving', { params })).rejects.toMatchObject({ code: 'PARAMS_INVALID' });
  await deploy('moving', {});
  expect(await there.waitForRun((await there.submit('moving', { params: { any: 1 } })).id)).toMatchObject({
    params: { any: 1 },
  });
  await deploy('moving', { params: schemaOf(9) });
  await expect(there.submit('moving', { params })).rejects.toMatchObject({ code: 'PARAMS_INVALID' });
});

test('the same key and body again is the same run, whatever the schema has become (I11)', async () => {
  await deploy('keyed', { params: schemaOf(1) });
  const call = [{ params: { day: '2026-11-16', cups: 3 } }, { idempotencyKey: 'cup-3' }] as const;
  const first = await clientOf(0).submit('keyed', ...call);
  expect(await clientOf(1).submit('keyed', ...call)).toEqual(first);
});

test('an event whose payload a dag does not take makes runs of the others', async () => {
  await deploy('takes-any', { on: { event: 'beans' } });
  await deploy('takes-day', { on: { event: 'beans' }, params: schemaOf(1) });
  expect(await clientOf(0).signalEvent('beans', { kilo: 2 })).toEqual({
    matched: true,
    runs: [{ dag: 'takes-any', id: expect.any(String) }],
    refused: [{ dag: 'takes-day', problems: expect.arrayContaining([{ path: 'params.day', message: 'is missing' }]) }],
  });
});

test.each([
  [{ params: { type: 'text' } }, 'params.type'],
  [{ params: schemaOf(1), schedule: { cron: '0 3 * * *' } }, 'schedule.params'],
  [{ params: 'object' }, 'params'],
])('a dag with %j is refused with the place (I38)', async (more, path) => {
  expect(await deploy('refused', more)).toMatchObject({ status: 422, body: { problems: [{ path }] } });
});

test('costly params hold up nobody: one budget for all runs of a request, off the edge’s thread (I68)', async () => {
  const anyOf = Array.from({ length: 500 }, (_, no) => ({ contains: { const: no } }));
  await deploy('costly', { params: { anyOf } });
  const params = Array(300).fill(-1);
  let [isOver, worstMs, answers] = [false, 0, 0];
  const watch = async () => {
    while (!isOver) {
      const began = performance.now();
      expect((await rig.ask('GET', '/healthz')).status).toBe(200);
      worstMs = Math.max(worstMs, performance.now() - began);
      answers += 1;
    }
  };
  const watching = watch();
  const began = performance.now();
  const batch = { runs: Array.from({ length: 16 }, () => ({ params })) };
  const asked = Array.from({ length: 20 }, () => rig.ask('POST', '/v1/dags/costly/runs/batch', batch));
  const statuses = (await Promise.all(asked)).map(({ status, body }) => `${status} ${body.code}`);
  const tookMs = performance.now() - began;
  isOver = true;
  await watching;
  expect(new Set(statuses)).toEqual(new Set(['422 PARAMS_INVALID', '429 RATE_LIMITED']));
  // One budget for each run, on the edge's own thread, made it stand still for as long as the whole took.
  expect(worstMs).toBeLessThan(1_000);
  expect(tookMs).toBeLessThan(20_000);
  expect(answers).toBeGreaterThan(20);
});

test('a schema that multiplies is refused when it is deployed', async () => {
  const $defs: Record<string, object> = { d30: { required: ['missing'] } };
  for (let level = 0; level < 30; level++) {
    const $ref = `#/$defs/d${level + 1}`;
    $defs[`d${level}`] = { anyOf: [{ $ref }, { $ref }] };
  }
  expect(await deploy('exploding', { params: { $defs, $ref: '#/$defs/d0' } })).toMatchObject({
    status: 422,
    body: { code: 'DAG_INVALID', problems: [{ message: expect.stringContaining('multiplies') }] },
  });
});

const EXACT = [
  ['{"params":{"rows":[{"id":9007199254740993}]}}', 'params.rows[0].id'],
  ['{"params":{"x":1e400}}', 'params.x'],
  ['{"params":{"x":1e-400}}', 'params.x'],
  ['{"params":{"a":1,"a":2}}', 'params.a'],
  ['{"params":1,"params":2}', 'params'],
] as const;

test.each(EXACT)('%s is refused with its path, and makes no run (I12)', async (body, path) => {
  await deploy('exact', {});
  const refused = { status: 400, body: { code: 'BAD_REQUEST', problems: [{ path }] } };
  expect(await rig.ask('POST', '/v1/dags/exact/runs', body)).toMatchObject(refused);
  const batch = { status: 400, body: { problems: [{ path: `runs[1].${path}` }] } };
  expect(await rig.ask('POST', '/v1/dags/exact/runs/batch', `{"runs":[{"params":1},${body}]}`)).toMatchObject(batch);
  const event = body.replaceAll('params', 'payload');
  expect((await rig.ask('POST', '/v1/events/paid', event)).status).toBe(400);
  expect((await rig.ask('GET', '/v1/runs?dag=exact')).body.items).toEqual([]);
});

test('a body of null makes no run; no body, an empty one and params of null do', async () => {
  await deploy('nothing', {});
  expect(await rig.ask('POST', '/v1/dags/nothing/runs', 'null')).toMatchObject({
    status: 400,
    body: { problems: [{ path: '', message: expect.stringContaining('not null') }] },
  });
  for (const body of [undefined, '{}', '{"params":null}']) {
    expect((await rig.ask('POST', '/v1/dags/nothing/runs', body)).status).toBe(201);
  }
  expect((await rig.ask('GET', '/v1/runs?dag=nothing')).body.items).toHaveLength(3);
});

test('a client does not send numbers that JSON has no word for', async () => {
  await deploy('finite', {});
  const sent = clientOf(0).submit('finite', { params: { rate: Number.NaN } });
  await expect(sent).rejects.toMatchObject({ code: 'BAD_REQUEST', details: { problems: [{ path: 'params.rate' }] } });
});

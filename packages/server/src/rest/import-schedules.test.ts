import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
const tasks = [{ name: 'job', run: 'true' }];

async function send(body: string, type = 'application/x-ndjson') {
  const response = await fetch(`${rig.servers[0]?.url}/v1/schedules/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rig.token}`, 'content-type': type },
    body,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const line = (dag: string, name: string, cron = '0 3 * * *') => JSON.stringify({ dag, name, cron });

test('thousands are created, one per line; to send them again does no harm', async () => {
  for (const name of ['first', 'second']) await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  const schedules = Array.from({ length: 2_500 }, (_, no) => ({
    dag: no % 2 === 0 ? 'first' : 'second',
    name: `s${no}`,
    cron: `${no % 60} 3 * * *`,
    params: { no },
  }));
  const all = { created: 2_500, refused: 0, errors: [] };
  expect(await client().importSchedules(schedules)).toEqual(all);
  expect(await client().importSchedules(schedules)).toEqual(all);
  expect(await client().getSchedule('second', 's2499')).toMatchObject({ fires: '39 3 * * *', params: { no: 2_499 } });
  const counted = 'select count(*)::integer as count, max(revision) as revision from dag_schedule';
  expect(await rig.sql(counted)).toEqual([{ count: 2_500, revision: 1 }]);
});

test('lines that are refused are named, and do not stop the others (I13)', async () => {
  for (const name of ['good', 'bad']) await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks });
  const lines = [
    line('good', 'a'),
    '',
    line('bad', 'a'),
    '{"dag":"good"',
    line('bad', 'b', '0 0 30 2 *'),
    line('nowhere', 'a'),
    JSON.stringify({ dag: 'good', name: 'c', cron: '@daily', every: '1h' }),
    line('good', 'b'),
  ];
  const { status, body } = await send(lines.join('\n'));
  expect(status).toBe(200);
  expect(body).toMatchObject({ created: 2, refused: 5 });
  const told = (body['errors'] as { line: number; lines: number; error: { code: string } }[]).map(
    (one) => [one.line, one.lines, one.error.code] as const,
  );
  expect(told).toEqual([
    [3, 2, 'SCHEDULE_INVALID'],
    [4, 1, 'BAD_REQUEST'],
    [6, 1, 'DAG_NOT_FOUND'],
    [7, 1, 'BAD_REQUEST'],
  ]);
  expect((await client().listSchedulesOfDag('good')).items.map(({ name }) => name)).toEqual(['a', 'b']);
  expect((await client().listSchedulesOfDag('bad')).items).toEqual([]);
});

test('a line of many megabytes is refused as one line, and is not gathered for ever (I68)', async () => {
  await rig.ask('PUT', '/v1/dags/long', { name: 'long', tasks });
  const long = `{"dag":"long","name":"${'a'.repeat(8 * 1024 * 1024)}"}`;
  const { status, body } = await send([line('long', 'a'), long, line('long', 'b'), `${long}\n`].join('\n'));
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...{ created: 2, refused: 2 },
    errors: [2, 4].map((no) => ({ line: no, lines: 1, error: { code: 'TOO_LARGE' } })),
  });
  expect(await send(long)).toMatchObject({ body: { refused: 1, errors: [{ line: 1, error: { code: 'TOO_LARGE' } }] } });
});

test('a body of another kind, or with too many lines, is refused', async () => {
  expect(await send('{}', 'application/json')).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
  expect(await send('\n'.repeat(20_001))).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
  expect(await rig.ask('POST', '/v1/schedules', undefined)).toMatchObject({ status: 400 });
});

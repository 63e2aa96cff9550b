import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';
import { missingAfter } from './import-jobs.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const client = () => createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });

async function send(lines: readonly string[], key?: string) {
  const response = await fetch(`${rig.servers[0]?.url}/v1/jobs/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${rig.token}`,
      'content-type': 'application/x-ndjson',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: lines.join('\n'),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const counted = async (tag: string) =>
  await rig.sql(`select count(*)::integer as count from job where '${tag}' = any (tags)`);

test('thousands are created, one per line; with the same key they are created once (I11)', async () => {
  const jobs = Array.from({ length: 2_500 }, (_, no) => ({
    run: `echo ${no}`,
    queue: 'nobody',
    tags: ['many'],
    ...[{ delay: '1d' }, { cron: '0 7 * * *' }, {}][no % 3],
  }));
  const all = { created: 2_500, refused: 0, errors: [] };
  expect(await client().importJobs(jobs, { idempotencyKey: 'night' })).toEqual(all);
  expect(await counted('many')).toEqual([{ count: 2_500 }]);
  expect(await client().importJobs(jobs, { idempotencyKey: 'night' })).toEqual(all);
  expect(await counted('many')).toEqual([{ count: 2_500 }]);
  const { items } = await client().listJobs({ tag: 'many', recurring: true, limit: 2 });
  expect(items).toMatchObject([{ state: 'scheduled', fires: '0 7 * * *' }, { state: 'scheduled' }]);
  expect(await client().importJobs(jobs.slice(0, 3))).toMatchObject({ created: 3 });
  expect(await counted('many')).toEqual([{ count: 2_503 }]);
});

test('lines that are refused are named, and do not stop the others (I13)', async () => {
  const { status, body } = await send([
    '{"run":"true","queue":"nobody","tags":["some"]}',
    '',
    '{"run":"true","http":{"url":"http://127.0.0.1:1"}}',
    '{"run":',
    '{"task":{"dag":"nowhere","task":"any"}}',
    '{"run":"true","queue":"other","cron":"0 0 30 2 *"}',
    '{"run":"true","queue":"nobody","tags":["some"],"delay":"1d"}',
  ]);
  expect(status).toBe(200);
  expect(body).toMatchObject({ created: 2, refused: 4 });
  const told = (body['errors'] as { line: number; lines: number; error: { code: string } }[]).map(
    (one) => [one.line, one.error.code] as const,
  );
  expect(told).toEqual([
    [3, 'BAD_REQUEST'],
    [4, 'BAD_REQUEST'],
    [5, 'DAG_NOT_FOUND'],
    [6, 'SCHEDULE_INVALID'],
  ]);
  expect(await counted('some')).toEqual([{ count: 2 }]);
});

test('a key that is used again for other lines is refused', async () => {
  const line = (no: number) => JSON.stringify({ run: `echo ${no}`, queue: 'nobody' });
  expect(await send([line(1)], 'same')).toMatchObject({ body: { created: 1 } });
  expect(await send([line(2)], 'same')).toMatchObject({
    body: {
      created: 0,
      errors: [
        { line: 1, error: { code: 'IDEMPOTENCY_CONFLICT', detail: expect.stringContaining('key same was') as never } },
      ],
    },
  });
  expect(await send([line(3)], 'two words')).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
});

describe('one key, one list of lines (I11)', () => {
  const task = (tag: string, more: object = {}) =>
    JSON.stringify({ task: { dag: 'moving', task: 'go' }, queue: 'nobody', tags: [tag], ...more });
  const deploy = (handler: string) =>
    rig.ask('PUT', '/v1/dags/moving', { name: 'moving', tasks: [{ name: 'go', handler }] });

  test('no job is made twice when the dag of its task is deployed between two imports', async () => {
    await deploy('first');
    const lines = [task('deployed'), task('deployed', { cron: '0 7 * * *' }), task('deployed', { delay: '1d' })];
    expect(await send(lines, 'deploys')).toMatchObject({ body: { created: 3 } });
    await deploy('second');
    expect(await send(lines, 'deploys')).toMatchObject({ body: { created: 3, refused: 0 } });
    expect(await counted('deployed')).toEqual([{ count: 3 }]);
  });

  test('lines that were refused are tried again, and only those', async () => {
    await deploy('first');
    const other = JSON.stringify({ task: { dag: 'late', task: 'go' }, queue: 'nobody', tags: ['again'] });
    const lines = [other, task('again'), '{"run":', task('again', { cron: '0 7 * * *' })];
    expect(await send(lines, 'part')).toMatchObject({ body: { created: 2, refused: 2 } });
    // The same shape as that of the other lines, with a first line of its own.
    await rig.ask('PUT', '/v1/dags/late', { name: 'late', tasks: [{ name: 'go', handler: 'first' }] });
    expect(await send(lines, 'part')).toMatchObject({ body: { created: 3, refused: 1, errors: [{ line: 3 }] } });
    await deploy('second');
    expect(await send(lines, 'part')).toMatchObject({ body: { created: 3, refused: 1, errors: [{ line: 3 }] } });
    expect(await counted('again')).toEqual([{ count: 3 }]);
  });

  test('a line that was refused stays missing while others wait for their turn', () => {
    const [one, two, three] = [{ no: 1 }, { no: 2 }, { no: 3 }];
    const first = missingAfter([1, 2, 3], [one, two, three], [{ lines: [one] }, { lines: [three] }]);
    expect(first).toEqual([1, 3]);
    expect(missingAfter(first, [three], [])).toEqual([1]);
    expect(missingAfter([1], [one], [])).toEqual([]);
  });

  test('other lines are refused, and with them all that come after them', async () => {
    const line = (no: number) => JSON.stringify({ run: `echo ${no}`, queue: 'nobody', tags: ['moved'] });
    const lines = Array.from({ length: 1_000 }, (_, no) => line(no));
    expect(await send(lines, 'moves')).toMatchObject({ body: { created: 1_000 } });
    const { body } = await send([line(-1), ...lines], 'moves');
    expect(body).toMatchObject({ created: 0, refused: 1_001 });
    expect(body['errors']).toMatchObject([
      { line: 1, lines: 1_000, error: { code: 'IDEMPOTENCY_CONFLICT' } },
      { line: 1_001, lines: 1, error: { code: 'IDEMPOTENCY_CONFLICT' } },
    ]);
    expect(await send([...lines, line(1_000)], 'moves')).toMatchObject({ body: { created: 1_001, refused: 0 } });
    expect(await counted('moved')).toEqual([{ count: 1_001 }]);
  });

  test('what is refused altogether leaves the key free (I12)', async () => {
    expect(await send([JSON.stringify({ task: { dag: 'nowhere', task: 'go' } })], 'free')).toMatchObject({
      body: { created: 0, refused: 1 },
    });
    const good = JSON.stringify({ run: 'true', queue: 'nobody' });
    expect(await send([good], 'free')).toMatchObject({ body: { created: 1 } });
  });
});

test('a key that is used again for another time is refused, and the job of the first stays (I11)', async () => {
  const line = (hour: number, tag = 'kept') =>
    JSON.stringify({ run: 'true', queue: 'nobody', tags: [tag], cron: `0 ${hour} * * *` });
  expect(await send([line(1)], 'hourly')).toMatchObject({ body: { created: 1 } });
  const { items: before } = await client().listJobs({ tag: 'kept' });
  expect(before).toMatchObject([{ state: 'scheduled', fires: '0 1 * * *' }]);
  const { body } = await send([line(2)], 'hourly');
  expect(body).toMatchObject({ created: 0, errors: [{ line: 1, error: { code: 'IDEMPOTENCY_CONFLICT' } }] });
  const [{ error }] = body['errors'] as [{ error: { detail: string } }];
  expect(error.detail).toContain('The idempotency key hourly was');
  expect((await client().listJobs({ tag: 'kept' })).items).toEqual(before);
  // Nothing comes of a refusal: the rows that it began with are gone (I12).
  expect(await send([line(2), line(3, 'never')], 'hourly')).toMatchObject({ body: { created: 0 } });
  expect(await counted('never')).toEqual([{ count: 0 }]);
  expect(await counted('kept')).toEqual([{ count: 1 }]);
});

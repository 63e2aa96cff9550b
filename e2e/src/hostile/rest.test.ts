/** Hostile requests over REST, with their answers: refused with place and remedy, nothing stored, never a 5xx, never a hang. */
import { type AnyBody, type Rig, startRig } from '@signalbox/server/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE_DEFINITIONS, HUGE_DEFINITIONS } from './definitions.ts';
import { sendRaw } from './raw-http.ts';
import { stored } from './stored.ts';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
  expect(
    (await rig.ask('PUT', '/v1/dags/known', { name: 'known', tasks: [{ name: 'a', handler: 'h' }] })).status,
  ).toBeLessThan(300);
});

afterAll(async () => {
  // Whatever was sent, the server is as well as before.
  expect((await rig.ask('GET', '/readyz')).status).toBe(200);
  await rig.stop();
});

function expectRefusal(answer: { status: number; body: AnyBody }, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body?.code }).toEqual({ status, code });
  const { detail, remedy } = answer.body as unknown as { detail: string; remedy: string };
  expect(detail).toMatch(/\S/);
  expect(remedy).toMatch(/\S/);
}

describe('definitions', () => {
  test.each([...HOSTILE_DEFINITIONS, ...HUGE_DEFINITIONS].map((row) => [row.name, row] as const))(
    '%s is refused with its place (I38)',
    async (_, { definition, place, says }) => {
      const before = await stored(rig);
      const answer = await rig.ask('PUT', '/v1/dags/hostile', definition);
      expect([400, 422]).toContain(answer.status);
      expect(['DAG_INVALID', 'SCHEDULE_INVALID', 'BUNDLE_NOT_FOUND']).toContain(answer.body.code);
      if (answer.body.code === 'DAG_INVALID') {
        const { problems } = answer.body;
        const found =
          problems.find(({ path }) => path === place) ?? problems.find(({ path }) => path.startsWith(place));
        expect(found, JSON.stringify(problems.slice(0, 3))).toBeDefined();
        expect(found?.message).toContain(says);
      } else expect(answer.body.detail).toMatch(/\S/);
      expect(await stored(rig)).toEqual(before);
    },
  );
});

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const missingRun = '01977d1d-ec44-72ba-971f-f8e0cd00001f';

type Row = readonly [
  name: string,
  method: string,
  path: string,
  body: unknown,
  status: number,
  code: string,
  headers?: Record<string, string>,
];

const rows: readonly Row[] = [
  [
    'a dag under another name',
    'PUT',
    '/v1/dags/other',
    { name: 'hostile', tasks: [{ name: 'a', run: 'x' }] },
    400,
    'BAD_REQUEST',
  ],
  ['a body that is no JSON', 'PUT', '/v1/dags/hostile', '{"name":', 400, 'BAD_REQUEST'],
  ['a body of another kind', 'PUT', '/v1/dags/hostile', 'name: x', 400, 'BAD_REQUEST', { 'content-type': 'text/yaml' }],
  [
    'a form',
    'POST',
    '/v1/dags/known/runs',
    'params=1',
    400,
    'BAD_REQUEST',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  ['no body', 'PUT', '/v1/dags/hostile', undefined, 422, 'DAG_INVALID'],
  ['a body of null', 'PUT', '/v1/dags/hostile', 'null', 400, 'BAD_REQUEST'],
  ['a list for a body', 'POST', '/v1/dags/known/runs', [], 400, 'BAD_REQUEST'],
  ['10,000 brackets', 'POST', '/v1/dags/known/runs', nested(10_000), 400, 'BAD_REQUEST'],
  ['params 65 deep', 'POST', '/v1/dags/known/runs', `{"params":${nested(65)}}`, 400, 'BAD_REQUEST'],
  ['params of 257 KiB', 'POST', '/v1/dags/known/runs', { params: 'x'.repeat(257 * 1024) }, 400, 'BAD_REQUEST'],
  ['a body of 2 MiB', 'POST', '/v1/dags/known/runs', { params: 'x'.repeat(2 * 1024 * 1024) }, 413, 'TOO_LARGE'],
  ['an unknown field', 'POST', '/v1/dags/known/runs', { prams: {} }, 400, 'BAD_REQUEST'],
  ['an unknown priority', 'POST', '/v1/dags/known/runs', { priority: 'now' }, 400, 'BAD_REQUEST'],
  ['a run of an unknown dag', 'POST', '/v1/dags/ghost/runs', {}, 404, 'DAG_NOT_FOUND'],
  ['a run of a path', 'POST', '/v1/dags/..%2f..%2fetc%2fpasswd/runs', {}, 400, 'BAD_REQUEST'],
  ['a dag with a zero in its name', 'GET', '/v1/dags/a%00b', undefined, 404, 'DAG_NOT_FOUND'],
  ['a dag with half a character', 'GET', '/v1/dags/%ff', undefined, 400, 'BAD_REQUEST'],
  ['a dag with a broken escape', 'GET', '/v1/dags/%zz', undefined, 400, 'BAD_REQUEST'],
  ['a dag name of 5,000 characters', 'GET', `/v1/dags/${'x'.repeat(5_000)}`, undefined, 400, 'BAD_REQUEST'],
  [
    'SQL for a name',
    'GET',
    `/v1/dags/${encodeURIComponent("x'; drop table run; --")}`,
    undefined,
    404,
    'DAG_NOT_FOUND',
  ],
  ['an empty batch', 'POST', '/v1/dags/known/runs/batch', { runs: [] }, 400, 'BAD_REQUEST'],
  ['a batch of 1,001', 'POST', '/v1/dags/known/runs/batch', { runs: new Array(1_001).fill({}) }, 400, 'BAD_REQUEST'],
  [
    'a batch with one bad run',
    'POST',
    '/v1/dags/known/runs/batch',
    { runs: [{}, { priority: 1 }] },
    400,
    'BAD_REQUEST',
  ],
  ['a key with a space', 'POST', '/v1/dags/known/runs', {}, 400, 'BAD_REQUEST', { 'idempotency-key': 'a b' }],
  [
    'a key of 256 characters',
    'POST',
    '/v1/dags/known/runs',
    {},
    400,
    'BAD_REQUEST',
    { 'idempotency-key': 'k'.repeat(256) },
  ],
  ['a run that is no id', 'GET', '/v1/runs/1', undefined, 404, 'RUN_NOT_FOUND'],
  ['a run that is a path', 'GET', '/v1/runs/..%2f..%2f', undefined, 404, 'RUN_NOT_FOUND'],
  ['a run that is SQL', 'GET', `/v1/runs/${encodeURIComponent("' or 1=1 --")}`, undefined, 404, 'RUN_NOT_FOUND'],
  ['a run that does not exist', 'GET', `/v1/runs/${missingRun}`, undefined, 404, 'RUN_NOT_FOUND'],
  ['a cancel of nothing', 'POST', `/v1/runs/${missingRun}/cancel`, {}, 404, 'RUN_NOT_FOUND'],
  ['a retry of nothing', 'POST', `/v1/runs/${missingRun}/tasks/a/retry`, {}, 404, 'RUN_NOT_FOUND'],
  ['the log of nothing', 'GET', `/v1/runs/${missingRun}/tasks/a/attempts/1/log`, undefined, 404, 'RUN_NOT_FOUND'],
  ['a page of 501', 'GET', '/v1/runs?limit=501', undefined, 400, 'BAD_REQUEST'],
  ['a page of less than nothing', 'GET', '/v1/runs?limit=-1', undefined, 400, 'BAD_REQUEST'],
  ['a page of NaN', 'GET', '/v1/runs?limit=NaN', undefined, 400, 'BAD_REQUEST'],
  ['a cursor that was made up', 'GET', '/v1/runs?cursor=abc', undefined, 400, 'BAD_REQUEST'],
  [
    'a cursor that is SQL',
    'GET',
    `/v1/runs?cursor=${encodeURIComponent('0; select 1')}`,
    undefined,
    400,
    'BAD_REQUEST',
  ],
  ['a filter that is not there', 'GET', '/v1/runs?colour=red', undefined, 400, 'BAD_REQUEST'],
  ['a filter given twice', 'GET', '/v1/runs?dag=a&dag=b', undefined, 400, 'BAD_REQUEST'],
  ['an unknown state', 'GET', '/v1/runs?state=done', undefined, 400, 'BAD_REQUEST'],
  [
    'events from a made-up place',
    'GET',
    '/v1/events?after=!!!',
    undefined,
    400,
    'BAD_REQUEST',
    { accept: 'application/json' },
  ],
  ['an event with a path', 'POST', '/v1/events/..%2fx', {}, 400, 'BAD_REQUEST'],
  ['a token of an unknown role', 'POST', '/v1/tokens', { name: 'x', role: 'root' }, 400, 'BAD_REQUEST'],
  ['a token with a path for a name', 'POST', '/v1/tokens', { name: '../x', role: 'viewer' }, 400, 'BAD_REQUEST'],
  ['the end of an unknown token', 'POST', '/v1/tokens/ghost/revoke', {}, 404, 'TOKEN_NOT_FOUND'],
  [
    'a bundle that is not its hash',
    'PUT',
    `/v1/bundles/${'0'.repeat(64)}`,
    'export const functions = {}',
    422,
    'BUNDLE_MISMATCH',
    { 'content-type': 'application/octet-stream' },
  ],
  [
    'a bundle under a path',
    'PUT',
    '/v1/bundles/..%2f..%2fx',
    'x',
    404,
    'BUNDLE_NOT_FOUND',
    { 'content-type': 'application/octet-stream' },
  ],
  ['a drain of nobody', 'POST', '/v1/workers/ghost/drain', {}, 404, 'WORKER_NOT_FOUND'],
  ['a schedule that is not there', 'POST', '/v1/dags/known/schedule/pause', {}, 404, 'SCHEDULE_NOT_FOUND'],
  ['a version of nothing', 'GET', '/v1/dags/known/versions/0', undefined, 404, 'VERSION_NOT_FOUND'],
  ['a version that is no number', 'GET', '/v1/dags/known/versions/one', undefined, 404, 'VERSION_NOT_FOUND'],
  ['a version beyond all', 'GET', '/v1/dags/known/versions/999', undefined, 404, 'VERSION_NOT_FOUND'],
  ['a route that is not there', 'GET', '/v1/secrets', undefined, 404, 'ROUTE_NOT_FOUND'],
  ['a file of the server', 'GET', '/../../etc/passwd', undefined, 404, 'ROUTE_NOT_FOUND'],
  ['a method that is not there', 'PATCH', '/v1/dags/known', {}, 404, 'ROUTE_NOT_FOUND'],
  ['no credential', 'GET', '/v1/runs', undefined, 401, 'UNAUTHENTICATED', { authorization: '' }],
  [
    'a credential that was made up',
    'GET',
    '/v1/runs',
    undefined,
    401,
    'UNAUTHENTICATED',
    { authorization: 'Bearer sbx_0000000000000000000000' },
  ],
  [
    'a credential of another scheme',
    'GET',
    '/v1/runs',
    undefined,
    401,
    'UNAUTHENTICATED',
    { authorization: 'Basic YTpi' },
  ],
  [
    'a credential of 20,000 characters',
    'GET',
    '/v1/runs',
    undefined,
    431,
    'TOO_LARGE',
    { authorization: `Bearer ${'x'.repeat(20_000)}` },
  ],
  [
    'a page of another origin',
    'POST',
    '/v1/dags/known/runs',
    {},
    421,
    'WRONG_HOST',
    { origin: 'https://evil.example' },
  ],
];

describe('requests', () => {
  test.each(rows)('%s', async (...row) => {
    const [, method, path, body, status, code, headers] = row as unknown as Row;
    const before = await stored(rig);
    const answer = await rig.ask(method, path, body, headers === undefined ? {} : { headers });
    expectRefusal(answer, status, code);
    expect(await stored(rig)).toEqual(before);
  });
});

describe('bytes that are no proper requests', () => {
  const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
  const auth = () => `authorization: Bearer ${rig.token}`;
  test.each<[string, () => string, RegExp]>([
    ['no HTTP at all', () => 'hello\r\n\r\n', /^HTTP\/1\.1 400/],
    ['a wrong Host', () => head('GET /v1/runs HTTP/1.1', 'host: evil.example', auth()), /^HTTP\/1\.1 421/],
    ['no Host', () => head('GET /v1/runs HTTP/1.1', auth()), /^HTTP\/1\.1 (400|421)/],
    [
      'two lengths',
      () =>
        head('POST /v1/dags/known/runs HTTP/1.1', 'host: localhost', 'content-length: 2', 'content-length: 3', auth()) +
        '{}',
      /^HTTP\/1\.1 400/,
    ],
    [
      'a length and chunks',
      () =>
        head(
          'POST /v1/dags/known/runs HTTP/1.1',
          'host: localhost',
          'content-length: 2',
          'transfer-encoding: chunked',
          auth(),
        ) + '0\r\n\r\n',
      /^HTTP\/1\.1 400/,
    ],
    [
      'a header of 100 KiB',
      () => head('GET /v1/runs HTTP/1.1', 'host: localhost', `x: ${'y'.repeat(100_000)}`),
      /^HTTP\/1\.1 431/,
    ],
    [
      'a path of 100 KiB',
      () => head(`GET /${'y'.repeat(100_000)} HTTP/1.1`, 'host: localhost'),
      /^HTTP\/1\.1 (414|431)/,
    ],
    [
      'a line break in a header',
      () => 'GET /v1/runs HTTP/1.1\r\nhost: localhost\r\nx: a\nb\r\n\r\n',
      /^HTTP\/1\.1 400/,
    ],
    [
      'an address for a path',
      () => head('GET http://evil.example/v1/runs HTTP/1.1', 'host: localhost', auth()),
      /^HTTP\/1\.1 (400|404|421)/,
    ],
    ['a tunnel', () => head('CONNECT evil.example:443 HTTP/1.1', 'host: localhost'), /^HTTP\/1\.1 4|^$/],
  ])('%s', async (_, bytes, expected) => {
    const before = await stored(rig);
    expect(await sendRaw((rig.servers[0] as { url: string }).url, bytes())).toMatch(expected);
    expect(await stored(rig)).toEqual(before);
  });
});

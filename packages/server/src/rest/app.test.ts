import type { TenantId } from '@signalbox/engine';
import type { Queries } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import type { MainLine } from '../edge/main-line.ts';
import { makeLogger } from '../log.ts';
import type { LogReader } from '../logs/log-reader.ts';
import { buildApp } from './app.ts';
import { OPERATIONS } from './operations/index.ts';

const ADMIN = 'Bearer an-admin';

/** Whatever else is called has been reached by somebody who may not. */
const quarantined = (what: string): ProxyHandler<object> => ({
  get: (target, name) => {
    if (name in target) return Reflect.get(target, name);
    return () => {
      throw new Error(`${what}.${String(name)} was called`);
    };
  },
});

let app: FastifyInstance;
let isDatabaseAway = false;
beforeEach(async () => {
  isDatabaseAway = false;
  const { hashOf } = await import('../auth/bearer.ts');
  const roles = new Map([
    [hashOf('an-admin').toString('hex'), 'admin'],
    [hashOf('a-stranger').toString('hex'), 'of a later version'],
  ]);
  const findToken = async (sha256: Buffer) => {
    if (isDatabaseAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const role = roles.get(sha256.toString('hex'));
    return role === undefined ? null : { tenantId: 1 as TenantId, tenant: 'default', name: 'test', role, leftMs: null };
  };
  app = await buildApp({
    queries: new Proxy(
      { findToken, recordRefusal: async () => undefined },
      quarantined('queries'),
    ) as unknown as Queries,
    main: new Proxy({}, quarantined('main')) as unknown as MainLine,
    logs: new Proxy({}, quarantined('logs')) as unknown as LogReader,
    logFolder: '.',
    logger: makeLogger('silent', 'test'),
    bind: { host: '127.0.0.1', port: 4500 },
    allowedHosts: ['box.example'],
    trustedProxies: [],
    tls: null,
    retention: { runDays: 30, journalDays: 7, deadLetterDays: 30 },
    rate: null,
    runRate: null,
  });
  await app.ready();
});

const filled = (path: string) => path.replaceAll(/:\w+/g, 'x');
/** Method and path of each route there is; that there are no others, roles.test.ts shows. */
const routes = (): [string, string][] => OPERATIONS.map(({ method, path }) => [method, filled(path)]);
const OPEN = new Set(
  OPERATIONS.flatMap(({ roles, method, path }) => (roles === 'anyone' ? [`${method} ${filled(path)}`] : [])),
);

const call = (method: string, url: string, headers: Record<string, string> = {}, payload?: string) =>
  app.inject({
    method: method as 'GET',
    url,
    headers: { host: '127.0.0.1:4500', ...headers },
    ...(payload === undefined ? {} : { payload }),
  });

test('every route but health is refused without a credential, also those that are not there (I66)', async () => {
  const closed = routes().filter(([method, path]) => !OPEN.has(`${method} ${path}`));
  const paths: [string, string][] = [...closed, ['GET', '/v1/nothing'], ['DELETE', '/v1/runs/x']];
  const bad = [{}, { authorization: '' }, { authorization: 'Bearer' }, { authorization: 'Bearer  ' }].concat([
    { authorization: 'Basic YWRtaW46YWRtaW4=' },
    { authorization: 'Bearer unknown' },
    { authorization: 'Bearer a-stranger' },
    { authorization: `Bearer ${'x'.repeat(10_000)}` },
  ]);
  for (const [method, path] of paths) {
    for (const headers of bad) {
      const answer = await call(method, path, headers, method === 'POST' || method === 'PUT' ? '{' : undefined);
      expect([method, path, answer.statusCode]).toEqual([method, path, 401]);
      if (method !== 'HEAD') expect(answer.json()).toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  }
});

test('health is told to anybody', async () => {
  expect((await call('GET', '/healthz')).json()).toEqual({ status: 'ok' });
});

test.each([
  ['a foreign name', { host: 'evil.example' }, 421],
  ['a name that only begins like ours', { host: '127.0.0.1.evil.example:4500' }, 421],
  ['a page of another site', { origin: 'http://evil.example' }, 421],
  ['a page without an origin of its own', { origin: 'null' }, 421],
  ['our page on another port', { origin: 'http://127.0.0.1:9999' }, 421],
  ['a name that was allowed', { host: 'box.example:4500' }, 404],
  ['our own page', { origin: 'http://127.0.0.1:4500' }, 404],
  ['localhost', { host: 'localhost:4500' }, 404],
])('a request for %s is looked at before its credential (D13)', async (_, headers, expected) => {
  const answer = await call('GET', '/v1/nothing', { authorization: ADMIN, ...headers });
  expect(answer.statusCode).toBe(expected);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

test('with the database away nobody is let in, and everybody may ask again (I60)', async () => {
  isDatabaseAway = true;
  const answer = await call('GET', '/v1/runs', { authorization: 'Bearer not-seen-before' });
  expect([answer.statusCode, answer.json().code, answer.json().retryable]).toEqual([503, 'UNAVAILABLE', true]);
  expect(answer.headers['retry-after']).toBe('1');
});

const json = { authorization: ADMIN, 'content-type': 'application/json' };
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['no JSON', 'POST', '/v1/dags/a/runs', '{"params":', 400],
  ['another content type', 'POST', '/v1/dags/a/runs', '<xml/>', 400, { 'content-type': 'application/xml' }],
  ['a form', 'POST', '/v1/dags/a/runs', 'params=1', 400, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['text that a page could post', 'POST', '/v1/dags/a/runs', '{}', 400, { 'content-type': 'text/plain' }],
  ['an unknown field', 'POST', '/v1/dags/a/runs', '{"parms":1}', 400],
  ['a prototype', 'POST', '/v1/dags/a/runs', '{"__proto__":{"params":1}}', 400],
  ['a list', 'POST', '/v1/dags/a/runs', '[]', 400],
  ['deep nesting', 'POST', '/v1/dags/a/runs', `{"params":${deep(100)}}`, 400],
  ['very deep nesting', 'POST', '/v1/dags/a/runs', `{"params":${deep(200_000)}}`, 400],
  ['params over their limit', 'POST', '/v1/dags/a/runs', `{"params":"${'x'.repeat(300_000)}"}`, 400],
  ['a body over the limit', 'POST', '/v1/dags/a/runs', `{"params":"${'x'.repeat(2 ** 20)}"}`, 413],
  ['a batch over the limit', 'POST', '/v1/dags/a/runs/batch', `{"runs":"${'x'.repeat(2 ** 23)}"}`, 413],
  ['an empty batch', 'POST', '/v1/dags/a/runs/batch', '{"runs":[]}', 400],
  ['a batch of too many', 'POST', '/v1/dags/a/runs/batch', `{"runs":[${'{},'.repeat(1000)}{}]}`, 400],
  ['a key with a line break', 'POST', '/v1/dags/a/runs', '{}', 400, { 'idempotency-key': 'a b' }],
  ['a key that is too long', 'POST', '/v1/dags/a/runs', '{}', 400, { 'idempotency-key': 'k'.repeat(256) }],
  ['a name with markup', 'POST', '/v1/dags/%3Cscript%3E/runs', '{}', 400],
  ['a name with SQL', 'POST', "/v1/dags/a';drop/runs", '{}', 400],
  ['a way out of the folder', 'POST', '/v1/dags/..%2F..%2Fetc/runs', '{}', 400],
  ['a zero character', 'GET', '/v1/dags/a%00b', undefined, 404],
  ['half a character', 'GET', '/v1/dags/%ff', undefined, 400],
  ['a name that is too long', 'GET', `/v1/dags/${'a'.repeat(5_000)}`, undefined, 400],
  ['an id that is none', 'GET', "/v1/runs/1'%20or%20'1'='1", undefined, 404],
  ['a state that is none', 'GET', '/v1/runs?state=anything', undefined, 400],
  ['a limit that is none', 'GET', '/v1/runs?limit=1e9', undefined, 400],
  ['a cursor of somebody', 'GET', '/v1/runs?cursor=99999999999999999999', undefined, 400],
  ['a field twice', 'GET', '/v1/runs?dag=a&dag=b', undefined, 400],
  ['a dag under another name', 'PUT', '/v1/dags/a', '{"name":"b","tasks":[{"name":"t","handler":"h"}]}', 400],
  ['a dag without tasks', 'PUT', '/v1/dags/a', '{"name":"a","tasks":[]}', 422],
  ['a dag in a circle', 'PUT', '/v1/dags/a', '{"name":"a","tasks":[{"name":"t","handler":"h","needs":["t"]}]}', 422],
] as [string, string, string, string | undefined, number, Record<string, string>?][])(
  '%s is refused with what is wrong, and reaches nothing (I68, I69)',
  async (_, method, url, body, expected, headers = {}) => {
    const answer = await call(method, url, { ...json, ...headers }, body);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      expected,
      expect.stringContaining('application/problem+json'),
    ]);
    expect(answer.json()).toMatchObject({ status: expected, code: expect.any(String), remedy: expect.any(String) });
    expect(answer.body).not.toMatch(/<script|node_modules|at \w+ \(/);
  },
);

import { createHash } from 'node:crypto';
import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const url = () => rig.servers[0]?.url ?? '';
const client = () => createClient({ url: url(), token: rig.token });
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const raw = (path: string, init: RequestInit = {}) => fetch(`${url()}${path}`, { redirect: 'manual', ...init });

async function logIn(): Promise<string> {
  const { path } = await client().createLoginLink();
  const answer = await raw(path);
  expect(answer.status).toBe(303);
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

test('a login link opens one session, once, in a cookie that scripts and other sites cannot use (D13)', async () => {
  const { path } = await client().createLoginLink();
  // Programs that look at links before people do must not use them up.
  expect((await raw(path, { method: 'HEAD' })).status).not.toBe(303);
  const first = await raw(path);
  expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
  const cookie = first.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^signalbox_session=sbs_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  const again = await raw(path);
  expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null]);
  const session = { headers: { cookie: cookie.split(';')[0] ?? '' } };
  expect((await raw('/v1/runs', session)).status).toBe(200);
  const { items } = await client().listTokens();
  expect(items.find(({ name }) => name.startsWith('browser-'))).toMatchObject({
    role: 'admin',
    createdBy: 'token:admin',
    expiresAt: expect.any(String),
  });
});

test.each([
  ['no origin at all', {}, 421],
  ['another origin', { origin: 'http://evil.example' }, 421],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 421],
  ['a page of a sibling site', { 'sec-fetch-site': 'same-site' }, 421],
  ['our own page, as browsers say it', { 'sec-fetch-site': 'same-origin' }, 404],
  ['our own origin', { origin: 'ours' }, 404],
])('a change by a session from %s', async (_, headers: Record<string, string>, expected) => {
  const cookie = await logIn();
  const own = headers.origin === 'ours' ? { origin: url() } : headers;
  const answer = await raw('/v1/dags/nothing/runs', {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', ...own },
    body: '{}',
  });
  expect(answer.status).toBe(expected);
});

test('a session may do what its maker allowed, and its cookie is no bearer of more', async () => {
  const { path } = await client().createLoginLink({ role: 'viewer' });
  const cookie = ((await raw(path)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  expect((await raw('/v1/dags', { headers: { cookie } })).status).toBe(200);
  expect((await raw('/v1/tokens', { headers: { cookie } })).status).toBe(403);
  // A credential in the header counts, and the cookie beside it does not.
  expect((await raw('/v1/dags', { headers: { cookie, authorization: 'Bearer wrong' } })).status).toBe(401);
});

test('a token with an end is refused after it, at once', async () => {
  const { token, expiresAt } = await client().createToken({ name: 'short', role: 'viewer', expiresIn: '400ms' });
  expect(Date.parse(expiresAt ?? '')).toBeLessThan(Date.now() + 1_000);
  expect((await rig.ask('GET', '/v1/dags', undefined, as(token))).status).toBe(200);
  const isRefused = async () => (await rig.ask('GET', '/v1/dags', undefined, as(token))).status === 401;
  // Far sooner than what was found of it would have been believed.
  await eventually(isRefused, 2_000);
  // Its name is free again.
  expect((await client().createToken({ name: 'short', role: 'viewer' })).token).not.toBe(token);
});

test('a token may be good for longer than any task may take', async () => {
  const { expiresAt } = await client().createToken({ name: 'quarter', role: 'operator', expiresIn: '90d' });
  expect(Math.round((Date.parse(expiresAt ?? '') - Date.now()) / 86_400_000)).toBe(90);
  await expect(client().createToken({ name: 'ages', role: 'viewer', expiresIn: '5000d' })).rejects.toThrow(
    '3,650 days',
  );
});

test('a token that is made twice with one key is one token, and its secret is nowhere in the database (I11, I67)', async () => {
  const make = (key: string, role = 'worker') =>
    rig.ask('POST', '/v1/tokens', { name: `t-${key}`, role }, { headers: { 'idempotency-key': key } });
  const [first, second, third] = await Promise.all([make('k1'), make('k1'), make('k1')]);
  expect(first.status).toBe(201);
  expect([second.body, third.body]).toEqual([first.body, first.body]);
  expect((await make('k1', 'viewer')).body.code).toBe('IDEMPOTENCY_CONFLICT');
  const { token } = first.body as unknown as { token: string };
  const stored = await rig.sql('select to_jsonb(k)::text as row from request_key k');
  expect(JSON.stringify(stored)).not.toContain(token);
  const sha256 = createHash('sha256').update(token).digest('hex');
  expect(await rig.sql(`select 1 from api_token where encode(sha256, 'hex') = '${sha256}'`)).toHaveLength(1);
});

test('a token that is revoked ends the sessions it opened, its unused links, and their streams (I66)', async () => {
  const { token } = await client().createToken({ name: 'leaver', role: 'admin' });
  const leaver = createClient({ url: url(), token });
  const cookie =
    ((await raw((await leaver.createLoginLink()).path)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { path: unused } = await leaver.createLoginLink({ role: 'viewer' });
  const stream = await raw('/v1/events', { headers: { cookie, accept: 'text/event-stream' } });
  expect(stream.status).toBe(200);
  const reader = stream.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  await client().revokeToken('leaver');
  expect((await raw(unused)).status).toBe(401);
  // What was found of a credential is believed for 5 seconds.
  await eventually(async () => (await raw('/v1/runs', { headers: { cookie } })).status === 401);
  const end = async (): Promise<'ended'> => {
    for (;;) {
      const chunk = await reader?.read().catch(() => ({ done: true }));
      if (chunk?.done !== false) return 'ended';
    }
  };
  expect(await end()).toBe('ended');
  const { items } = await client().listAudit({ limit: 20 });
  expect(items.map(({ action, actor }) => `${action} by ${actor}`)).toEqual(
    expect.arrayContaining([
      'token.create by token:admin',
      'login_link.create by token:leaver',
      'login by token:leaver',
      'token.revoke by token:admin',
      'session.end by token:admin',
    ]),
  );
  expect(items.every(({ origin, at }) => origin === '127.0.0.1' && Date.parse(at) > 0)).toBe(true);
}, 40_000);

test('the audit is for admins, in pages', async () => {
  const { token } = await client().createToken({ name: 'onlooker', role: 'operator' });
  expect((await rig.ask('GET', '/v1/audit', undefined, as(token))).status).toBe(403);
  const first = await client().listAudit({ limit: 1 });
  expect(first.items).toMatchObject([{ action: 'token.create', target: 'onlooker', outcome: 'done' }]);
  const next = await client().listAudit({ limit: 1, cursor: first.cursor ?? '' });
  expect(next.items[0]?.id).not.toBe(first.items[0]?.id);
  expect((await rig.ask('GET', '/v1/audit?cursor=x')).status).toBe(400);
});

test('who guesses is refused after some tries, and keeps out nobody with a right credential (I68)', async () => {
  const fresh = await client().createToken({ name: 'behind-nat', role: 'viewer' });
  const { path } = await client().createLoginLink();
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) statuses.push((await rig.ask('GET', '/v1/dags', undefined, as(`guess-${i}`))).status);
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
  expect(statuses.at(-1)).toBe(429);
  const refused = await rig.ask('GET', '/v1/dags', undefined, as('guess-again'));
  expect([refused.body.code, Number(refused.headers.get('retry-after')) > 0]).toEqual(['RATE_LIMITED', true]);
  // From the same address: a token that was never used before, and one that is in use.
  expect((await rig.ask('GET', '/v1/dags', undefined, as(fresh.token))).status).toBe(200);
  expect((await rig.ask('GET', '/v1/dags')).status).toBe(200);

  const codes: number[] = [];
  for (let i = 0; i < 25; i++) codes.push((await raw(`/login?code=${String(i).padStart(43, 'x')}`)).status);
  expect([codes[0], codes.at(-1)]).toEqual([401, 429]);
  expect((await raw(path)).status).toBe(303);
  const { items } = await client().listAudit({ action: 'login.refused' });
  expect(items.length).toBeGreaterThan(0);
  // However many were refused, few rows tell of it (I73).
  expect(items.length).toBeLessThanOrEqual(6);
});

test('only a trusted proxy is believed where a request comes from', async () => {
  const far = (hops: string) => ({
    headers: { authorization: `Bearer wrong-${hops.length}-${hops.slice(0, 11)}`, 'x-forwarded-for': hops },
  });
  const origins = async (action: string) => (await client().listAudit({ action })).items.map(({ origin }) => origin);
  // Nobody is trusted unless told.
  await rig.ask('GET', '/v1/dags', undefined, far('203.0.113.1'));
  const trusting = await rig.addServer({ SIGNALBOX_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' });
  const ask = (hops: string) => rig.ask('GET', '/v1/dags', undefined, { server: trusting, ...far(hops) });
  await ask('203.0.113.2');
  // What the caller wrote itself comes before the hop that it was seen from.
  await ask('203.0.113.3, 203.0.113.4, 10.1.2.3');
  await eventually(async () => (await origins('credential.refused')).includes('203.0.113.4'));
  const seen = await origins('credential.refused');
  expect(seen).toContain('203.0.113.2');
  expect(seen).not.toContain('203.0.113.1');
  expect(seen).not.toContain('203.0.113.3');
});

test('a caller that asks too often is told when to come back, and the others are not', async () => {
  const slow = await rig.addServer({ SIGNALBOX_RATE: '2' });
  const { token } = await client().createToken({ name: 'busy', role: 'viewer' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => rig.ask('GET', '/v1/dags', undefined, { server: slow, ...as(token) })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(3);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect((await rig.ask('GET', '/v1/dags', undefined, { server: slow })).status).toBe(200);
});

test('every answer tells browsers to do nothing with it', async () => {
  for (const path of ['/healthz', '/v1/dags', '/nothing', '/login?code=x']) {
    const { headers } = await raw(path, { headers: { authorization: `Bearer ${rig.token}` } });
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; frame-ancestors 'none'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  }
});

test('too many headers are refused', async () => {
  const headers = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x-${i}`, '1']));
  const answer = await rig.ask('GET', '/v1/dags', undefined, { headers });
  expect([answer.status, answer.body.problems[0]?.path]).toEqual([400, 'headers']);
});

test('a session knows who it is, and ends when its browser signs out', async () => {
  const cookie = await logIn();
  const own = { headers: { cookie, origin: url() } };
  const session = await (await raw('/v1/session', own)).json();
  expect(session).toMatchObject({ role: 'admin', tenant: 'default', browser: true, version: expect.any(String) });
  const ended = await raw('/v1/session/end', { ...own, method: 'POST' });
  expect([ended.status, ended.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  await eventually(async () => (await raw('/v1/session', own)).status === 401);
  const withToken = await rig.ask('GET', '/v1/session');
  expect(withToken.body).toMatchObject({ actor: 'token:admin', browser: false });
  expect((await rig.ask('POST', '/v1/session/end')).status).toBe(400);
});

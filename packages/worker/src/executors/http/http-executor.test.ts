import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpWork } from '@signalbox/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { startBody, workOf } from '../../test-rig.ts';

type Answer = (request: IncomingMessage & { body: string }, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => answer(Object.assign(request, { body }), response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const call = (work: Partial<HttpWork> & Pick<HttpWork, 'url'>, different: Parameters<typeof workOf>[1] = {}) =>
  workOf({ kind: 'http', method: 'GET', headers: {}, timeoutMs: 30_000, ...work }, different);

const local = { httpAllow: ['127.0.0.0/8'], environment: { SIGNALBOX_SECRET_KEY: 'top-secret' } };

test('a call sends what it is told to, and what is answered is the output', async () => {
  const rig = await startBody(local);
  const seen: object[] = [];
  const url = await serve((request, response) => {
    const { authorization, 'idempotency-key': key, 'content-type': type } = request.headers;
    seen.push({ method: request.method, url: request.url, authorization, key, type, body: request.body });
    response.writeHead(201, { 'content-type': 'application/json; charset=utf-8', 'set-cookie': 'x=1', etag: '"e"' });
    response.end('{"ok":true}');
  });
  const assignment = call({
    url: `${url}/path?q=1`,
    method: 'POST',
    headers: { Authorization: 'Bearer ${{ secrets.KEY }}' },
    fill: { 'headers.Authorization': { text: ['Bearer ', { from: 'secret', name: 'KEY' }] } },
    inputs: { n: { from: 'value', value: 1 } },
  });
  const report = await rig.run(assignment);
  expect(report).toMatchObject({ outcome: 'succeeded', error: '' });
  expect(JSON.parse(report.output)).toEqual({
    status: 201,
    headers: { 'content-type': 'application/json; charset=utf-8', etag: '"e"' },
    body: { ok: true },
  });
  await rig.run(call({ url, headers: { 'Idempotency-Key': 'mine' } }));
  await rig.run(call({ url, method: 'PUT', body: 'text' }));
  const common = { authorization: undefined, url: '/' };
  expect(seen).toEqual([
    {
      method: 'POST',
      url: '/path?q=1',
      authorization: 'Bearer top-secret',
      key: assignment.effectKey,
      type: 'application/json',
      body: '{"n":1}',
    },
    { ...common, method: 'GET', key: 'mine', type: undefined, body: '' },
    { ...common, method: 'PUT', key: expect.any(String), type: 'text/plain; charset=utf-8', body: 'text' },
  ]);
  expect(rig.data.textOf(assignment.claim)).toEqual([`system: POST ${url}/path?q=1 was answered with 201.`]);
});

test('values stand in an address, a header and a body as data, whatever they hold (I69)', async () => {
  const rig = await startBody(local);
  const seen: object[] = [];
  const url = await serve((request, response) => {
    seen.push({ url: request.url, day: request.headers['x-day'], body: request.body });
    response.end();
  });
  const day = { from: 'params', path: ['day'] } as const;
  const work = {
    url: `${url}/days/\${{ params.day }}?to=x`,
    method: 'POST',
    headers: { 'x-day': '' },
    body: {},
    fill: {
      url: { text: [`${url}/days/`, day, '?to=x'] },
      'headers.x-day': { source: day },
      body: { object: { days: { list: [{ source: day }, { text: ['on ', day] }] } } },
    },
  } as const;
  const run = (value: unknown) => rig.run(call(work, { params: JSON.stringify({ day: value }) }));
  expect((await run('../../a b?c#d/${{ secrets.KEY }}')).outcome).toBe('succeeded');
  const encoded = '..%2F..%2Fa%20b%3Fc%23d%2F%24%7B%7B%20secrets.KEY%20%7D%7D';
  const plain = '../../a b?c#d/${{ secrets.KEY }}';
  expect(seen).toEqual([
    { url: `/days/${encoded}?to=x`, day: plain, body: JSON.stringify({ days: [plain, `on ${plain}`] }) },
  ]);
  for (const [value, why] of [
    ['..', 'cannot be part of a URL'],
    ['a\r\nx-other: 1', 'line break'],
    [undefined, '${{ params.day }} does not exist'],
  ] as const) {
    expect(await run(value)).toMatchObject({ outcome: 'permanent', error: expect.stringContaining(why) });
  }
  expect(seen).toHaveLength(1);
});

test.each([
  [200, undefined, 'succeeded'],
  [204, undefined, 'succeeded'],
  [404, [404], 'succeeded'],
  [200, [404], 'permanent'],
  [404, undefined, 'permanent'],
  [304, undefined, 'permanent'],
  [408, undefined, 'transient'],
  [425, undefined, 'transient'],
  [429, undefined, 'transient'],
  [500, undefined, 'transient'],
  [503, undefined, 'transient'],
] as const)('status %d with %j expected is %s', async (status, expected, outcome) => {
  const rig = await startBody(local);
  const url = await serve((_, response) => {
    response.writeHead(status);
    response.end(status === 204 || status === 304 ? undefined : 'what it says');
  });
  const report = await rig.run(call({ url, ...(expected === undefined ? {} : { expect: expected }) }));
  expect(report.outcome).toBe(outcome);
  if (outcome !== 'succeeded') expect(report.error).toContain(`GET ${url}/ was answered with status ${status}.`);
});

test.each([
  ['seconds', 429, { 'retry-after': '30' }, {}, { outcome: 'transient', code: 'http:429', retryAfterMs: 30_000 }],
  ['none', 503, {}, {}, { outcome: 'transient', code: 'http:503', retryAfterMs: 0 }],
  ['no time', 503, { 'retry-after': 'soon' }, {}, { outcome: 'transient', retryAfterMs: 0 }],
  ['seconds, for good', 404, { 'retry-after': '30' }, {}, { outcome: 'permanent', code: 'http:404', retryAfterMs: 0 }],
  ['a map', 404, { 'retry-after': '2' }, { '404': 'transient' }, { outcome: 'transient', retryAfterMs: 2_000 }],
  ['a map', 500, {}, { '500-599': 'permanent' }, { outcome: 'permanent', code: 'http:500' }],
] as const)(
  'with %s, status %d is tried again when it asks for that',
  async (_, status, headers, statuses, expected) => {
    const rig = await startBody(local);
    const url = await serve((__, response) => {
      response.writeHead(status, headers);
      response.end();
    });
    expect(await rig.run(call({ url, statuses }))).toMatchObject(expected);
  },
);

test('a Retry-After that is a date counts from now', async () => {
  const rig = await startBody(local);
  const url = await serve((_, response) => {
    response.writeHead(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    response.end();
  });
  const { retryAfterMs } = await rig.run(call({ url }));
  expect(retryAfterMs).toBeGreaterThan(50_000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
});

test('an answer that is too large fails the task for good, without being read to its end', async () => {
  const rig = await startBody(local);
  let written = 0;
  const url = await serve((_, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) written += chunk.length;
    };
    response.on('drain', more);
    more();
  });
  expect(await rig.run(call({ url }))).toMatchObject({
    outcome: 'permanent',
    error: expect.stringContaining('more than 8388608 bytes'),
  });
  expect(written).toBeLessThan(50 * 1024 * 1024);
});

test('a call that is not answered in its time, or not at all, may be tried again', async () => {
  const rig = await startBody(local);
  const silent = await serve(() => {});
  expect(await rig.run(call({ url: silent, timeoutMs: 50 }))).toMatchObject({
    outcome: 'transient',
    error: expect.stringContaining('was not answered within 0.05 s'),
  });
  expect(await rig.run(call({ url: 'http://127.0.0.1:1/' }))).toMatchObject({
    outcome: 'transient',
    error: expect.stringContaining('ECONNREFUSED'),
  });
});

test('a call ends when it is told to', async () => {
  const rig = await startBody(local);
  let heard = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const url = await serve(() => heard());
  const assignment = call({ url });
  rig.session.say({ assignments: [assignment] });
  await arrived;
  rig.session.say({ kills: [{ claim: assignment.claim, reason: 'cancelled', graceMs: 60_000 }] });
  expect(await rig.session.reportOf(assignment.claim)).toMatchObject({
    outcome: 'cancelled',
    error: 'The attempt was cancelled.',
  });
});

test('redirects are followed, each checked; credentials stay at their origin', async () => {
  const rig = await startBody(local);
  const seen: object[] = [];
  const second = await serve((request, response) => {
    const { authorization, 'x-plain': plain, 'x-key': key } = request.headers;
    seen.push({ method: request.method, authorization, plain, key, body: request.body });
    response.end('there');
  });
  const first = await serve((request, response) => {
    if (request.url === '/loop') response.writeHead(302, { location: '/loop' });
    else if (request.url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' });
    else if (request.url === '/near') {
      response.writeHead(request.headers.authorization === 'a' ? 200 : 400);
    } else if (request.url === '/to-near') response.writeHead(302, { location: 'near' });
    else response.writeHead(request.url === '/keep' ? 307 : 303, { location: second });
    response.end();
  });
  const headers = { Authorization: 'a', 'x-plain': 'p', 'x-key': '${{ secrets.KEY }}' };
  const fill = { 'headers.x-key': { text: [{ from: 'secret', name: 'KEY' } as const] } };
  const away = { authorization: undefined, plain: 'p', key: undefined };
  expect((await rig.run(call({ url: `${first}/`, method: 'POST', body: 'b', headers, fill }))).outcome).toBe(
    'succeeded',
  );
  expect((await rig.run(call({ url: `${first}/keep`, method: 'POST', body: 'b', headers, fill }))).outcome).toBe(
    'succeeded',
  );
  expect(seen).toEqual([
    { method: 'GET', body: '', ...away },
    { method: 'POST', body: 'b', ...away },
  ]);
  expect((await rig.run(call({ url: `${first}/to-near`, headers, fill }))).outcome).toBe('succeeded');
  expect(await rig.run(call({ url: `${first}/loop` }))).toMatchObject({
    outcome: 'permanent',
    error: expect.stringContaining('redirected more than 5 times'),
  });
  expect(await rig.run(call({ url: `${first}/file` }))).toMatchObject({
    outcome: 'permanent',
    error: expect.stringContaining('redirected to file:'),
  });
});

test('what is not public is not called, by address, by name or by redirect, unless the worker allows it (I70)', async () => {
  let calls = 0;
  const inside = await serve((_, response) => {
    calls++;
    response.end();
  });
  const { port } = new URL(inside);
  const closed = await startBody({});
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]', '0x7f.1']) {
    expect(await closed.run(call({ url: `http://${host}:${port}/` }))).toMatchObject({
      outcome: 'permanent',
      error: expect.stringContaining('may not call'),
    });
  }
  expect(calls).toBe(0);

  // Allowed by its name only: what it redirects to is not.
  const named = await startBody({ httpAllow: ['localhost'] });
  const door = await serve((_, response) => {
    response.writeHead(302, { location: inside });
    response.end();
  });
  const report = await named.run(call({ url: door.replace('127.0.0.1', 'localhost') }));
  expect(report).toMatchObject({ outcome: 'permanent', error: expect.stringContaining('may not call 127.0.0.1') });
  expect(calls).toBe(0);
  expect((await named.run(call({ url: inside.replace('127.0.0.1', 'localhost') }))).outcome).toBe('succeeded');
  expect(calls).toBe(1);
});

test('an answer with a number that would change fails the task, with the path', async () => {
  const rig = await startBody(local);
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"rows":[{"id":9007199254740993}]}');
  });
  const report = await rig.run(call({ url }));
  expect(report).toMatchObject({ outcome: 'permanent', output: '' });
  expect(report.error).toContain("can't be kept: rows[0].id: the number 9007199254740993");
});

/** Hostile use of the HTTP edge: heads, slow and large bodies, costly schemas, streams. Others are served meanwhile. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { createClient } from '@signalbox/sdk';
import { type Rig, startRig } from '@signalbox/server/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from './raw-http.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.ask('PUT', '/v1/dags/known', { name: 'known', tasks: [{ name: 'a', handler: 'h' }] });
});
afterAll(async () => {
  expect((await rig.ask('GET', '/readyz')).status).toBe(200);
  await rig.stop();
});

const url = () => rig.servers[0]?.url ?? '';
const port = () => Number(new URL(url()).port);

test('two Host headers are refused', async () => {
  const head = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\nHost: evil.example\r\n\r\n`;
  expect(await sendRaw(url(), head)).toMatch(/^HTTP\/1\.1 400 /);
});

test('whoever sends a body that is too large can read why', async () => {
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      {
        port: port(),
        path: '/v1/dags/known/runs',
        method: 'POST',
        headers: {
          authorization: `Bearer ${rig.token}`,
          'content-type': 'application/json',
          'content-length': 24 * 1024 * 1024,
        },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    // All of it is sent before the answer is looked at, as simple clients do.
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    for (let i = 0; i < 24; i++) sent.write(chunk);
    sent.end();
  });
  expect([answer.status, (JSON.parse(answer.text) as { code: string }).code]).toEqual([413, 'TOO_LARGE']);
});

test('a body that is sent too slowly is cut at the documented 10 s', async () => {
  const began = performance.now();
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(port(), '127.0.0.1', () => {
      socket.write(
        `POST /v1/dags/known/runs HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\nAuthorization: Bearer ${rig.token}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
      );
    });
    const drip = setInterval(() => socket.writable && socket.write(' '), 500);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve(text);
    });
  });
  const tookMs = performance.now() - began;
  expect(answer).toContain('within 10 s');
  expect(tookMs).toBeGreaterThan(9_000);
  // Node looks every second; without being told to it looks every 30.
  expect(tookMs).toBeLessThan(20_000);
}, 60_000);

test('events are JSON unless a stream is asked for', async () => {
  for (const accept of ['*/*', 'application/json', 'text/html, */*;q=0.8']) {
    const answer = await rig.ask('GET', '/v1/events', undefined, { headers: { accept } });
    expect([accept, Array.isArray(answer.body.items)]).toEqual([accept, true]);
  }
});

test('a caller has a hundred streams, and leaves places to others', async () => {
  const { token } = await createClient({ url: url(), token: rig.token }).createToken({ name: 'other', role: 'viewer' });
  const open = (as: string, signal: AbortSignal) =>
    fetch(`${url()}/v1/events`, { headers: { authorization: `Bearer ${as}`, accept: 'text/event-stream' }, signal });
  const gone = new AbortController();
  const opened = await Promise.all(Array.from({ length: 105 }, () => open(rig.token, gone.signal)));
  const statuses = opened.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  expect((await open(token, gone.signal)).status).toBe(200);
  gone.abort();
});

test('a schema that multiplies is refused, and one that is costly holds up nobody', async () => {
  const $defs: Record<string, object> = { d30: { required: ['missing'] } };
  for (let level = 0; level < 30; level++) {
    const $ref = `#/$defs/d${level + 1}`;
    $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  const deploy = (name: string, params: object) =>
    rig.ask('PUT', `/v1/dags/${name}`, { name, params, tasks: [{ name: 'a', handler: 'h' }] });
  expect(await deploy('multiplies', { $defs, $ref: '#/$defs/d0' })).toMatchObject({ status: 422 });
  await deploy('patterns', { items: { pattern: '(a{0,200}){2}b' } });
  const params = Array(20).fill('a'.repeat(2_000));
  const asked = rig.ask('POST', '/v1/dags/patterns/runs', { params });
  let worstMs = 0;
  let isOver = false;
  void asked.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const began = performance.now();
    expect((await rig.ask('GET', '/healthz')).status).toBe(200);
    worstMs = Math.max(worstMs, performance.now() - began);
  }
  expect(await asked).toMatchObject({ status: 422, body: { code: 'PARAMS_INVALID' } });
  expect(worstMs).toBeLessThan(1_000);
});

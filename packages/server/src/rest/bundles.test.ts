import { createHash, randomBytes } from 'node:crypto';
import { MAX_BUNDLE_BYTES } from '@signalbox/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function call(method: string, path: string, body?: Buffer, type = 'application/octet-stream') {
  const response = await fetch(`${rig.servers[0]?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${rig.token}`, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, bytes, json: isJson ? JSON.parse(bytes.toString()) : null };
}

test('a bundle of the largest size goes in and comes out byte by byte, once new and then known', async () => {
  const code = randomBytes(MAX_BUNDLE_BYTES);
  const path = `/v1/bundles/${hashOf(code)}`;
  expect(await call('PUT', path, code)).toMatchObject({
    status: 201,
    json: { hash: hashOf(code), bytes: code.length },
  });
  expect((await call('PUT', path, code)).status).toBe(200);
  expect((await call('GET', path)).bytes.equals(code)).toBe(true);
  expect((await call('GET', `${path}/source-map`)).json.code).toBe('BUNDLE_NOT_FOUND');
  const map = Buffer.from('{"version":3}');
  expect((await call('PUT', `${path}/source-map`, map)).status).toBe(200);
  expect((await call('GET', `${path}/source-map`)).bytes).toEqual(map);
});

test('bytes under another hash are refused, and nothing is stored', async () => {
  const code = Buffer.from('export const functions = {}');
  const path = `/v1/bundles/${hashOf(Buffer.from('other'))}`;
  expect(await call('PUT', path, code)).toMatchObject({ status: 422, json: { code: 'BUNDLE_MISMATCH' } });
  expect((await call('GET', path)).json.code).toBe('BUNDLE_NOT_FOUND');
  expect((await call('GET', `/v1/bundles/${hashOf(code)}`)).status).toBe(404);
});

test.each([
  [
    'one byte too many',
    hashOf(Buffer.from('a')),
    randomBytes(MAX_BUNDLE_BYTES + 1),
    413,
    'BUNDLE_TOO_LARGE',
    'application/octet-stream',
  ],
  ['a name that is no hash', '..%2f', Buffer.from('a'), 404, 'BUNDLE_NOT_FOUND', 'application/octet-stream'],
  ['JSON', hashOf(Buffer.from('{}')), Buffer.from('{}'), 400, 'BAD_REQUEST', 'application/json'],
  ['nothing', hashOf(Buffer.alloc(0)), Buffer.alloc(0), 400, 'BAD_REQUEST', 'application/octet-stream'],
] as const)('%s is no bundle (I68)', async (_, hash, body, status, code, type) => {
  for (const path of [`/v1/bundles/${hash}`, `/v1/bundles/${hash}/source-map`]) {
    expect(await call('PUT', path, Buffer.from(body), type)).toMatchObject({ status, json: { code } });
  }
});

test('no other route takes bytes', async () => {
  expect((await call('PUT', '/v1/dags/a', Buffer.from('{}'))).json.code).toBe('BAD_REQUEST');
});

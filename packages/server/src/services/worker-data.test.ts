import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import type { ClaimRef, RunId, ShardNo } from '@signalbox/engine';
import {
  type LogBatch,
  type LogClientStream,
  openBundleFetch,
  openLogStream,
  parseBundleChunk,
  parseLogStored,
  TENANT_HEADER,
} from '@signalbox/protocol/grpc';
import { openQueries } from '@signalbox/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../config.ts';
import { HmacTokens } from '../ports/tokens.ts';
import { startServer } from '../start.ts';
import { bearer as bearerOf, TEST_WORKER, testWorkerId } from '../testing/raw-worker.ts';
import { type Rig, startRig } from '../testing/rig.ts';

let rig: Rig;
let client: Client;
let tokens: HmacTokens;
beforeAll(async () => {
  rig = await startRig();
  client = new Client(rig.servers[0]?.servicesAddress ?? '', credentials.createInsecure());
  const queries = await openQueries({ url: rig.databaseUrl });
  tokens = new HmacTokens(await queries.cluster());
  await queries.close();
});
afterAll(async () => {
  client.close();
  await rig.stop();
});

const bearer = (token: string) => bearerOf(token, TEST_WORKER);
const claim = { shard: 3, runId: 12_345, task: 0, attempt: 1, fence: 7 };
const tokenOf = ({ shard, runId, task, attempt, fence }: typeof claim) => {
  const ref = { runId: runId as RunId, taskNo: task, attemptNo: attempt, fence } as ClaimRef;
  return Buffer.from(tokens.mint(shard as ShardNo, ref, testWorkerId(rig.token)));
};
const batch = (no: number, firstLine: number, of = claim, token = tokenOf(of)): LogBatch => ({
  no,
  pieces: [{ claim: of, token, firstLine, lines: [{ at: 1, stream: 'stdout', text: `line ${firstLine}` }] }],
});

/** What is answered until the stream ends, and how it ends. */
async function answers(stream: LogClientStream) {
  const stored: number[] = [];
  stream.on('data', (input: unknown) => stored.push(parseLogStored(input)));
  const code = await new Promise<number>((resolve) => {
    stream.on('error', (error: Error & { code: number }) => resolve(error.code));
    stream.on('end', () => resolve(status.OK));
  });
  return { stored, code };
}

test('batches are acknowledged in order once they are stored, and lie in a segment', async () => {
  const stream = openLogStream(client, bearer(rig.token));
  const answered = answers(stream);
  for (let no = 1; no <= 50; no++) stream.write(batch(no, no - 1));
  stream.end();
  expect(await answered).toEqual({ stored: Array.from({ length: 50 }, (_, i) => i + 1), code: status.OK });
  const files = await readdir(rig.servers[0]?.logFolder ?? '');
  expect(files.filter((name) => name.endsWith('.log'))).toHaveLength(1);
});

test('a piece whose token does not fit is dropped, and the others of its batch are kept (I20)', async () => {
  const stream = openLogStream(client, bearer(rig.token));
  const answered = answers(stream);
  const stranger = { ...claim, runId: 777 };
  const { pieces: forged } = batch(1, 0, stranger, tokenOf(claim));
  const { pieces: genuine } = batch(1, 100);
  stream.write({ no: 1, pieces: [...forged, ...genuine] });
  stream.end();
  expect(await answered).toEqual({ stored: [1], code: status.OK });
});

test('a line number that no log comes to is dropped, and the store goes on', async () => {
  const stream = openLogStream(client, bearer(rig.token));
  const answered = answers(stream);
  stream.write(batch(1, 2 ** 32 - 1));
  stream.write(batch(2, 51));
  stream.end();
  expect(await answered).toEqual({ stored: [1, 2], code: status.OK });
});

test.each([
  ['no credential', new Metadata(), status.UNAUTHENTICATED],
  ['an unknown one', bearer('nobody-nobody-nobody-nobody'), status.UNAUTHENTICATED],
])('with %s neither logs are taken nor code is given (I66)', async (_, metadata, code) => {
  expect((await answers(openLogStream(client, metadata))).code).toBe(code);
  const fetching = openBundleFetch(client, 'ab'.repeat(32), metadata);
  fetching.on('data', () => undefined);
  const [error] = (await once(fetching, 'error')) as [Error & { code: number; metadata: Metadata }];
  expect([error.code, error.metadata.get('signalbox-code')]).toEqual([code, ['UNAUTHENTICATED']]);
});

test('what is no batch ends the stream with what is wrong', async () => {
  const stream = openLogStream(client, bearer(rig.token));
  const answered = answers(stream);
  stream.write({
    no: 1,
    pieces: [{ ...(batch(1, 0).pieces[0] as never as object), token: randomBytes(300) } as never],
  });
  expect((await answered).code).toBe(status.INVALID_ARGUMENT);
});

test('a worker fetches a bundle and its source map in chunks, by the hash of its bytes', async () => {
  const code = randomBytes(1_000_000);
  const hash = createHash('sha256').update(code).digest('hex');
  const put = (path: string, body: Buffer) =>
    fetch(`${rig.servers[0]?.url}${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(body),
    });
  await put(`/v1/bundles/${hash}`, code);
  const map = randomBytes(300_000);
  await put(`/v1/bundles/${hash}/source-map`, map);
  const made = (await rig.ask('POST', '/v1/tokens', { name: 'bundle-worker', role: 'worker' })).body as unknown as {
    token: string;
  };
  const parts: { code: Buffer; sourceMap: Buffer }[] = [];
  const stream = openBundleFetch(client, hash, bearer(made.token));
  stream.on('data', (input: unknown) => parts.push(parseBundleChunk(input)));
  await once(stream, 'end');
  expect(Buffer.concat(parts.map((part) => part.code)).equals(code)).toBe(true);
  expect(Buffer.concat(parts.map((part) => part.sourceMap)).equals(map)).toBe(true);

  const none = openBundleFetch(client, 'ab'.repeat(32), bearer(made.token));
  none.on('data', () => undefined);
  const [error] = (await once(none, 'error')) as [Error & { code: number }];
  expect(error.code).toBe(status.NOT_FOUND);
});

test('a token of the fleet fetches bundles of the tenants that it serves alone, not even of its own (I65)', async () => {
  const code = Buffer.from('export const functions = {};');
  const hash = createHash('sha256').update(code).digest('hex');
  await fetch(`${rig.servers[0]?.url}/v1/bundles/${hash}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(code),
  });
  await rig.ask('POST', '/v1/tenants', { name: 'served' });
  const outcomeAs = async (serves: string[] | undefined, tenant: string | null) => {
    const name = `fleet-${serves?.length ?? 'none'}-${serves?.[0] === '*'}-${tenant}`;
    const { token } = (await rig.ask('POST', '/v1/tokens', { name, role: 'worker', serves })).body as never as {
      token: string;
    };
    const metadata = bearer(token);
    if (tenant !== null) metadata.set(TENANT_HEADER, tenant);
    const stream = openBundleFetch(client, hash, metadata);
    stream.on('data', () => undefined);
    return new Promise<number>((resolve) => {
      stream.on('end', () => resolve(status.OK));
      stream.on('error', (error) => resolve((error as unknown as { code: number }).code));
    });
  };
  for (const tenant of [null, 'default', 'nobody'])
    expect([tenant, await outcomeAs(['served'], tenant)]).toEqual([tenant, status.PERMISSION_DENIED]);
  expect(await outcomeAs(['served'], 'served')).toBe(status.NOT_FOUND);
  for (const tenant of [null, 'default']) {
    expect(await outcomeAs(['*'], tenant)).toBe(status.OK);
    expect(await outcomeAs(['served', 'default'], tenant)).toBe(status.OK);
    expect(await outcomeAs(undefined, tenant)).toBe(status.OK);
  }
});

test('a services port that is in use is told by its name', async () => {
  const inTheWay = createServer().listen(0, '127.0.0.1');
  await once(inTheWay, 'listening');
  const { port } = inTheWay.address() as { port: number };
  const config = parseConfig({
    DATABASE_URL: rig.databaseUrl,
    SIGNALBOX_DATA: rig.dataDir,
    SIGNALBOX_HTTP: '127.0.0.1:0',
    SIGNALBOX_GRPC: '127.0.0.1:0',
    SIGNALBOX_SERVICES: `127.0.0.1:${port}`,
    SIGNALBOX_LOG: 'silent',
  });
  await expect(startServer(config)).rejects.toThrow(/^SIGNALBOX_SERVICES: the address 127\.0\.0\.1:\d+ is in use/);
  inTheWay.close();
});

import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';

interface Call {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let rig: Rig;
const calls: Call[] = [];
const answers = new Map<string, (response: ServerResponse, no: number) => void>();
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const path = request.url ?? '';
    calls.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() });
    const answer = answers.get(path) ?? ((to: ServerResponse) => to.end());
    answer(response, of(path).length);
  });
});
const seen = (look: () => unknown) => vi.waitFor(look, { timeout: 30_000, interval: 50 });
const of = (path: string): Call[] => calls.filter((call) => call.path === path);
let address: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  rig = await startRig({ SIGNALBOX_CALLBACK_ALLOW: '127.0.0.1' });
  await rig.addServer();
  await rig.addWorker({ echo: ({ params }: { params: unknown }) => params });
});
afterAll(async () => {
  await rig.stop();
  receiver.closeAllConnections();
  receiver.close();
});

async function runOf(name: string, callbackUrl: string): Promise<string> {
  await rig.ask('PUT', `/v1/dags/${name}`, { name, callbackUrl, tasks: [{ name: 'a', handler: 'echo' }] });
  const { body } = await rig.ask('POST', `/v1/dags/${name}/runs`, {});
  return String(body.id);
}
const stateOf = async (run: string) => {
  const { body } = await rig.ask('GET', '/v1/callbacks?limit=50');
  return (body.items as unknown as readonly { readonly run: string }[]).find((item) => item.run === run);
};

test('the end of a run is told by a signed call, under an id that stays the same (I61)', async () => {
  const run = await runOf('told', `${address}/told`);
  await seen(async () => expect(await stateOf(run)).toMatchObject({ state: 'done', attempts: 1, lastStatus: 200 }));
  const [call] = of('/told');
  expect(JSON.parse(call?.body ?? '')).toMatchObject({ event: 'run.ended', dag: 'told', run, outcome: 'succeeded' });
  const { body } = await rig.ask('GET', '/v1/callbacks/secret');
  const { header, secret } = body as unknown as { readonly header: string; readonly secret: string };
  const [, at, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(call?.headers[header])) ?? [];
  expect(createHmac('sha256', secret).update(`${at}.${call?.body}`).digest('hex')).toBe(digest);
  expect(await rig.ask('POST', `/v1/runs/${run}/callbacks`, {})).toMatchObject({ status: 200, body: { repeated: 1 } });
  await seen(() => expect(of('/told')).toHaveLength(2));
  expect(of('/told')[1]?.headers['idempotency-key']).toBe(call?.headers['idempotency-key']);
});

test('a receiver that fails is called again, and one that hangs holds up no other (I61)', async () => {
  answers.set('/hangs', () => undefined);
  answers.set('/fails', (response, no) => response.writeHead(no < 3 ? 503 : 204).end());
  await runOf('hangs', `${address}/hangs`);
  const run = await runOf('fails', `${address}/fails`);
  await seen(() => expect(of('/hangs').length).toBeGreaterThan(0));
  const next = await runOf('quick', `${address}/quick`);
  await seen(async () => expect(await stateOf(run)).toMatchObject({ state: 'done', attempts: 3 }));
  expect(new Set(of('/fails').map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  await seen(async () => expect(await stateOf(next)).toMatchObject({ state: 'done' }));
}, 60_000);

test('what is not public is not called unless the server allows it, and redirects are not followed (I70)', async () => {
  answers.set('/away', (response) => response.writeHead(302, { location: `${address}/inside` }).end());
  const run = await runOf('private', 'http://127.0.0.2:9/x');
  await seen(async () =>
    expect(await stateOf(run)).toMatchObject({
      state: 'given_up',
      lastError: expect.stringContaining('SIGNALBOX_CALLBACK_ALLOW'),
    }),
  );
  const sent = await runOf('away', `${address}/away`);
  await seen(async () => expect(await stateOf(sent)).toMatchObject({ state: 'waiting', lastStatus: 302 }));
  expect(of('/inside')).toEqual([]);
});

test.each(['ftp://a/b', 'http://user:pw@a/b', 'nonsense'])('%s is no address to call (I68)', async (callbackUrl) => {
  const definition = { name: 'refused', callbackUrl, tasks: [{ name: 'a', handler: 'echo' }] };
  expect(await rig.ask('PUT', '/v1/dags/refused', definition)).toMatchObject({
    status: 422,
    body: { problems: [{ path: 'callbackUrl' }] },
  });
});

test('a run that made no calls, and a run of somebody else, have none to repeat (I65)', async () => {
  const run = '01938b5a-1c5e-7000-8000-000000000000';
  expect(await rig.ask('POST', `/v1/runs/${run}/callbacks`, {})).toMatchObject({ status: 404 });
});

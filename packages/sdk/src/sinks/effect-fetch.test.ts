import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { AttemptStopped, errorCode, failureOf } from '../handler.ts';
import { effectFetch } from './effect-fetch.ts';

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay`;
}

const context = (more: object = {}) => ({
  effectKey: 'run/charge',
  signal: new AbortController().signal,
  assertOwned: async () => undefined,
  ...more,
});

test('the key is that of the task, or of the step; one that you set stays', async () => {
  const keys: unknown[] = [];
  const url = await serve((request, response) => {
    keys.push(request.headers['idempotency-key']);
    response.end('ok');
  });
  await effectFetch(context(), url);
  await effectFetch(context(), url, { method: 'POST', step: 'refund' });
  expect(await (await effectFetch(context(), url, { headers: { 'Idempotency-Key': 'mine' } })).text()).toBe('ok');
  expect(keys).toEqual(['run/charge', 'run/charge:refund', 'mine']);
});

test.each([
  [429, { 'retry-after': '3' }, {}, { class: 'transient', retryAfterMs: 3_000, code: 'http:429' }],
  [503, {}, {}, { class: 'transient', code: 'http:503' }],
  [402, {}, {}, { class: 'permanent', code: 'http:402' }],
  [404, {}, { statuses: { 404: 'transient' } }, { class: 'transient', code: 'http:404' }],
  [200, {}, { expect: [201] }, { class: 'permanent', code: 'http:200' }],
] as const)('status %d with %j is an error of its class', async (status, headers, options, failure) => {
  const url = await serve((_, response) => response.writeHead(status, headers).end('declined'));
  const error = await effectFetch(context(), url, options).catch((thrown: unknown) => thrown);
  expect(failureOf(error)).toEqual(failure);
  expect(errorCode(error)).toBe(`http:${status}`);
  expect(String(error)).toContain(`GET ${url} was answered with status ${status}.\ndeclined`);
});

test('who does not hold the task any more does not call', async () => {
  let calls = 0;
  const url = await serve((_, response) => {
    calls += 1;
    response.end();
  });
  const lost = context({ assertOwned: () => Promise.reject(new AttemptStopped('stale', 'gone')) });
  await expect(effectFetch(lost, url, { assertOwned: true })).rejects.toMatchObject({ reason: 'stale' });
  expect(calls).toBe(0);
});

test('the attempt’s signal ends the call, and so does one of your own', async () => {
  const url = await serve(() => undefined);
  const stopped = new AbortController();
  const calling = effectFetch(context({ signal: stopped.signal }), url);
  stopped.abort(new AttemptStopped('cancelled', 'stop'));
  await expect(calling).rejects.toMatchObject({ reason: 'cancelled' });
  await expect(effectFetch(context(), url, { signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout');
});

test('a server that is not there has the system’s name for it', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const error = await effectFetch(context(), `http://127.0.0.1:${port}/`).catch((thrown: unknown) => thrown);
  expect(failureOf(error)).toBeNull();
  expect(errorCode(error)).toBe('error:ECONNREFUSED');
});

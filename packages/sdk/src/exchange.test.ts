import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { exchange, type Sent } from './exchange.ts';

type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(answer: Serve) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/x`;
  const controller = new AbortController();
  const ask = (more: Partial<Sent> = {}) =>
    exchange(url, { method: 'GET', headers: {}, body: undefined, signal: controller.signal, ...more });
  return { server, ask, controller };
}

test('requests one after the other share one connection', async () => {
  let connections = 0;
  const { server, ask } = await serve((_, response) => response.end('{}'));
  server.on('connection', () => connections++);
  for (let i = 0; i < 5; i++) expect(await ask()).toEqual({ status: 200, retryAfter: null, text: '{}' });
  expect(connections).toBe(1);
});

test.each([
  ['POST', 'a text with ä', 'a text with ä'],
  ['DELETE', '{"a":1}', '{"a":1}'],
  ['PUT', new Uint8Array([104, 105]), 'hi'],
  ['POST', undefined, ''],
] as const)('the body of a %s arrives whole, with its length: %j', async (method, body, expected) => {
  const { ask } = await serve((request, response, text) =>
    response.writeHead(503, { 'retry-after': '7' }).end(`${request.headers['transfer-encoding'] ?? 'sized'} ${text}`),
  );
  expect(await ask({ method, body })).toEqual({ status: 503, retryAfter: '7', text: `sized ${expected}` });
});

test('a redirect is refused, and nothing is sent to where it points', async () => {
  let elsewhere = 0;
  const other = await serve((_, response) => {
    elsewhere++;
    response.end();
  });
  const { port } = other.server.address() as AddressInfo;
  const { ask } = await serve((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
  );
  await expect(ask({ headers: { authorization: 'Bearer secret' } })).rejects.toThrow('a redirect');
  expect(elsewhere).toBe(0);
});

test('an answer that breaks off is none', async () => {
  const { ask } = await serve((request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('{"a"', () => request.socket.destroy());
  });
  await expect(ask()).rejects.toThrow();
});

test('who gives up, before or in the middle of an answer, gets the own reason', async () => {
  const begun = await serve((_, response) => {
    response.writeHead(200);
    response.write('{', () => begun.controller.abort(new Error('enough')));
  });
  await expect(begun.ask()).rejects.toThrow('enough');
  await expect(begun.ask()).rejects.toThrow('enough');
});

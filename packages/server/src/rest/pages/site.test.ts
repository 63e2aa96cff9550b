import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageRoutes } from './index.ts';
import { readSite } from './site.ts';

let folder: string;
let app: FastifyInstance;
const SCRIPT = '/assets/index-abc.js';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-site-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Signalbox</title>');
  await writeFile(join(folder, 'secret.txt'), 'no page');
  await writeFile(join(folder, `.${SCRIPT}`), 'plain');
  await writeFile(join(folder, `.${SCRIPT}.br`), 'brotli');
  await writeFile(join(folder, `.${SCRIPT}.gz`), 'gzip');
  app = fastify();
  const site = readSite(folder);
  pageRoutes(app, () => site);
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test.each(['/', '/runs/0199', '/dags/a%2Fb?tab=graph'])(
  '%s shows the page, with its own scripts alone',
  async (url) => {
    const answer = await get(url, BROWSER);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
  },
);

test.each([
  ['/v1/nothing', BROWSER],
  ['/runs/0199', { accept: 'application/json' }],
  ['/assets/none.js', BROWSER],
  ['/assets/..%2fsecret.txt', BROWSER],
])('%s with %j is not found', async (url, headers) => {
  expect((await get(url, headers)).statusCode).toBe(404);
});

test.each([
  ['br, gzip', 'brotli', 'br'],
  ['gzip', 'gzip', 'gzip'],
  ['identity', 'plain', undefined],
])('an asset for %s is %s, and browsers keep it', async (accepted, body, encoding) => {
  const answer = await get(SCRIPT, { 'accept-encoding': accepted });
  expect([answer.body, answer.headers['content-encoding']]).toEqual([body, encoding]);
  expect(answer.headers['cache-control']).toBe('private, max-age=31536000, immutable');
  expect(answer.headers.vary).toBe('accept-encoding');
  // It may run as a worker, which asks the server for logs.
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; .*; connect-src 'self'$/);
});

test('a file that is no part of the site is not sent, whatever the path', async () => {
  for (const url of ['/secret.txt', '/assets/../secret.txt', '/assets/%2e%2e%2fsecret.txt']) {
    expect((await get(url, BROWSER)).body).not.toContain('no page');
  }
});

test('without a build the page says what to do', async () => {
  const bare = fastify() as unknown as FastifyInstance;
  pageRoutes(bare, () => readSite(join(folder, 'nowhere')));
  const answer = await bare.inject({ url: '/', headers: BROWSER });
  expect([answer.statusCode, answer.body.includes('npm run build')]).toEqual([503, true]);
  await bare.close();
});

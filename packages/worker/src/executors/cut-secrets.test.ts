/** Where something is cut, a secret may be cut in two: neither half is shown (I67). */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { commandOf, startBody, workOf } from '../test-rig.ts';

const SECRET = 'correct-horse-battery-staple';
const options = { environment: { PATH: process.env.PATH, SIGNALBOX_SECRET_KEY: SECRET }, httpAllow: ['127.0.0.0/8'] };
const HALF = /correct|staple/;

const BUNDLE = `export const functions = {
  throws: (c) => { throw new Error('x'.repeat(8 * 1024 - 20) + c.secret('KEY') + 'y'.repeat(100)); },
  says: (c) => { c.log.info('x'.repeat(1990) + c.secret('KEY') + 'y'.repeat(20000)); },
};`;

test.each([false, true])('in the error of a function (inProcess %s)', async (inProcess) => {
  const { data, run } = await startBody(options);
  const shape = { kind: 'function' as const, secrets: ['KEY'], ...(inProcess ? { inProcess } : {}) };
  const report = await run(workOf(shape, { handler: 'throws', bundle: data.add(BUNDLE) }));
  expect(report.error).toHaveLength(8 * 1024);
  expect(report.error).not.toMatch(HALF);
});

test.each([false, true])('in a long line that a function says (inProcess %s)', async (inProcess) => {
  const { data, run } = await startBody(options);
  const shape = { kind: 'function' as const, secrets: ['KEY'], ...(inProcess ? { inProcess } : {}) };
  const assignment = workOf(shape, { handler: 'says', bundle: data.add(BUNDLE) });
  expect((await run(assignment)).outcome).toBe('succeeded');
  expect(data.textOf(assignment.claim).join('\n')).toContain('xxx');
  expect(data.textOf(assignment.claim).join('\n')).not.toMatch(HALF);
});

test('in the last lines of a process', async () => {
  const { run } = await startBody(options);
  const print = `printf %s "$SIGNALBOX_SECRET_KEY" >&2; head -c 4085 /dev/zero | tr '\\0' y >&2; exit 3`;
  const { work } = commandOf(print);
  const report = await run(workOf({ ...JSON.parse(work), secrets: ['KEY'] }));
  expect(report.error).toContain('exit code 3');
  expect(report.error).not.toMatch(HALF);
});

test('in the answer to a call', async () => {
  const server = createServer((_, response) => {
    response.writeHead(400).end(`${'x'.repeat(490)}${SECRET}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { run } = await startBody(options);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const headers = { authorization: 'Bearer ${{ secrets.KEY }}' };
  const fill = { 'headers.authorization': { text: ['Bearer ', { from: 'secret', name: 'KEY' } as const] } };
  const report = await run(workOf({ kind: 'http', method: 'GET', url, headers, fill, timeoutMs: 30_000 }));
  expect(report.error).toContain('status 400');
  expect(report.error).not.toMatch(HALF);
});

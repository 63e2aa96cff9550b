import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openS3 } from './s3.ts';

/** Accepts, and never says a word. */
async function silentStore(answerMs: number) {
  const variables = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return openS3(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, answerMs);
}
const watched = { name: 'orders', bucket: 'shop', prefix: 'incoming/' };

test('a store that gives no answer is given up after a while', async () => {
  const store = await silentStore(200);
  await expect(store.list(watched, null)).rejects.toThrow();
  store.close();
});

test('a look at such a store ends when it is closed', async () => {
  const store = await silentStore(600_000);
  const look = store.list(watched, null);
  store.close();
  await expect(look).rejects.toThrow();
});

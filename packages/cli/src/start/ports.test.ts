import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { holderOf, isFree, refuseBusyPorts } from './ports.ts';

test('a port that is held is told with who holds it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const bind = { host: '127.0.0.1', port };
  expect(await isFree(bind.host, port)).toBe(false);
  expect(holderOf(port)).toMatchObject({ pid: process.pid });
  await expect(refuseBusyPorts({ http: bind })).rejects.toMatchObject({
    message: expect.stringContaining(`process ${process.pid}`),
    remedy: expect.stringContaining('--http'),
  });
  server.close();
  await once(server, 'close');
  expect(await isFree(bind.host, port)).toBe(true);
  expect(holderOf(port)).toBeNull();
  await refuseBusyPorts({ http: bind, grpc: { host: '127.0.0.1', port: 0 } });
});

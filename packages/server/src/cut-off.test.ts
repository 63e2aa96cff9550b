/** Two servers that lose sight of each other on real sockets, with a real database that both reach. */
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { RunningServer } from './start.ts';
import { eventually, startRig } from './testing/rig.ts';
import { StuckProxy } from './testing/stuck-proxy.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A gRPC port of its own, and a proxy before it that other servers know instead of it. */
async function behindProxy() {
  const proxy = new StuckProxy();
  const advertised = await proxy.listen();
  const port = await freePort();
  proxy.leadTo(port);
  return { proxy, port, variables: { SIGNALBOX_GRPC: `127.0.0.1:${port}`, SIGNALBOX_ADVERTISE: advertised } };
}

test('a server that is cut off from the other one, which has the worker, gives its shards up until it is back (I18, I29)', async () => {
  const [here, there] = [await behindProxy(), await behindProxy()];
  const rig = await startRig(here.variables);
  onTestFinished(async () => {
    await rig.stop();
    here.proxy.close();
    there.proxy.close();
  });
  const lonely = rig.servers[0] as RunningServer;
  const other = await rig.addServer(there.variables);
  const shardsOf = () => [lonely.host.shardsServed(), other.host.shardsServed()] as const;
  const isShared = () => shardsOf().every((count) => count > 0) && shardsOf()[0] + shardsOf()[1] === 64;
  await eventually(isShared);
  await rig.addWorker({ echo: () => 'done' }, { gateways: [`127.0.0.1:${there.port}`] });

  const names = Array.from({ length: 12 }, (_, i) => `dag-${i}`);
  for (const name of names) await rig.ask('PUT', `/v1/dags/${name}`, { name, tasks: [{ name: 'a', handler: 'echo' }] });
  const [{ count = 0 } = {}] = (await rig.sql(
    `select count(*)::int as count from dag d join shard s on s.shard = d.shard where s.owner = '${lonely.nodeId}'`,
  )) as { count?: number }[];
  expect(count).toBeGreaterThan(0);

  here.proxy.stick();
  there.proxy.stick();
  const cutAt = performance.now();
  const ids: string[] = [];
  await eventually(() => other.host.shardsServed() === 64, 20_000);
  for (const name of names) {
    const submitted = await rig.ask('POST', `/v1/dags/${name}/runs`, {}, { server: other });
    expect(submitted.status).toBe(201);
    ids.push(submitted.body.id);
  }
  for (const id of ids) {
    await eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.outcome === 'succeeded');
  }
  const passedMs = performance.now() - cutAt;
  console.log(`cut off: runs of all dags have ended ${Math.round(passedMs)} ms after the cut`);
  expect(passedMs).toBeLessThan(12_000);

  here.proxy.unstick();
  there.proxy.unstick();
  await eventually(isShared, 30_000);
}, 90_000);

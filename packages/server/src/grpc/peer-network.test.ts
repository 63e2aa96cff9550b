import { randomUUID } from 'node:crypto';
import { credentials } from '@grpc/grpc-js';
import type { NodeId } from '@signalbox/engine';
import type { PeerCaller, PeerHandlers, PeerLink } from '@signalbox/host';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../testing/rig.ts';
import { StuckProxy } from '../testing/stuck-proxy.ts';
import { type GrpcDoor, openGrpcDoor } from './door.ts';
import { GrpcPeerNetwork } from './peer-network.ts';

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanup.splice(0).reverse()) await clean();
});

const cluster = { tokenKey: Buffer.alloc(32, 1), incarnation: randomUUID() };
const self: PeerCaller = { nodeId: randomUUID() as NodeId, session: 7 };

function makeNetwork(address: string, secrets: Partial<typeof cluster> = {}): GrpcPeerNetwork {
  const tell = () => undefined;
  const options = { ...cluster, ...secrets, address: () => address, credentials: credentials.createInsecure(), tell };
  return new GrpcPeerNetwork(options);
}

/** A node that answers each message with itself, behind a proxy. */
async function listening() {
  const proxy = new StuckProxy();
  const address = await proxy.listen();
  const network = makeNetwork(address);
  const callers: PeerCaller[] = [];
  const closed: PeerCaller[] = [];
  network.listen((caller, link) => {
    callers.push(caller);
    return { onMessage: (message) => link.send(message), onClose: () => closed.push(caller) };
  });
  const door: GrpcDoor = await openGrpcDoor({ host: '127.0.0.1', port: 0 }, null, {
    onWorker: (stream) => stream.end(),
    onPeer: (stream) => network.accept(stream),
  });
  proxy.leadTo(door.port);
  cleanup.push(
    () => door.close(),
    () => proxy.close(),
  );
  return { proxy, address, callers, closed };
}

function openTo(address: string, secrets: Partial<typeof cluster> = {}) {
  const heard: unknown[] = [];
  let closedAt: number | null = null;
  const handlers: PeerHandlers = {
    onMessage: (message) => heard.push(message),
    onClose: () => {
      closedAt = performance.now();
    },
  };
  const link: PeerLink = makeNetwork('127.0.0.1:1', secrets).open(address, self, handlers);
  cleanup.push(() => link.close());
  return { link, heard, closedAt: () => closedAt };
}

test('messages arrive in order, whole, however large they are', async () => {
  const { address, callers } = await listening();
  const { link, heard } = openTo(address);
  const large = 'x'.repeat(3_000_000);
  const said = [1, { kind: 'a' }, large, ...Array.from({ length: 1000 }, (_, i) => i)];
  for (const message of said) link.send(message);
  await eventually(() => heard.length === said.length);
  expect(heard).toEqual(said);
  expect(callers).toEqual([self]);
});

test('assignments that are too many for a frame go in several, and all arrive', async () => {
  const { address } = await listening();
  const { link, heard } = openTo(address);
  const assignments = Array.from({ length: 100 }, (_, i) => ({ i, params: 'y'.repeat(250_000) }));
  link.send({ kind: 'assigned', workerId: 'w', assignments });
  const arrived = () => (heard as { assignments: unknown[] }[]).flatMap((message) => message.assignments);
  await eventually(() => arrived().length === 100);
  expect(arrived()).toEqual(assignments);
  expect(heard.length).toBeGreaterThan(10);
});

test('a link that is idle stays; one that is stuck closes on both sides within about three seconds', async () => {
  const { proxy, address, closed } = await listening();
  const { link, heard, closedAt } = openTo(address);
  link.send('hello');
  await eventually(() => heard.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect([closedAt(), closed.length]).toEqual([null, 0]);
  proxy.stick();
  const stuckAt = performance.now();
  await eventually(() => closedAt() !== null && closed.length === 1);
  expect((closedAt() ?? 0) - stuckAt).toBeLessThan(4_500);
  expect((closedAt() ?? 0) - stuckAt).toBeGreaterThan(1_500);
  proxy.unstick();
  const again = openTo(address);
  again.link.send('again');
  await eventually(() => again.heard.length === 1);
});

test('a node that is not there is a link that closes, after the caller has it', async () => {
  const { link, closedAt } = openTo('127.0.0.1:9');
  link.send('lost');
  expect(closedAt()).toBeNull();
  await eventually(() => closedAt() !== null);
});

test.each([
  ['another key', { tokenKey: Buffer.alloc(32, 2) }],
  ['the key of another incarnation', { incarnation: randomUUID() }],
])('a caller with %s is turned away', async (_, secrets) => {
  const { address, callers } = await listening();
  const { closedAt } = openTo(address, secrets);
  await eventually(() => closedAt() !== null);
  expect(callers).toEqual([]);
});

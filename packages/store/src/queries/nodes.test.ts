import { randomUUID } from 'node:crypto';
import type { NodeId } from '@signalbox/engine';
import { afterAll, expect, test } from 'vitest';
import { Fixtures } from '../fixture.testing.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

test('a node is listed with the version that it registered last; one of an older product has none', async () => {
  const fixture = await fixtures.open();
  const { store, queries } = fixture;
  const nodeId = randomUUID() as NodeId;
  const addresses = { peerAddress: 'a:1', gatewayAddress: 'a:2', dataAddress: 'a:3' };
  await store.registerNode({ nodeId, ...addresses, version: '1.2.3' });
  const listed = { nodeId, gatewayAddress: 'a:2', dataAddress: 'a:3', leaving: false, shards: 0 };
  expect((await queries.listNodes()).nodes).toMatchObject([{ ...listed, version: '1.2.3' }]);
  await store.registerNode({ nodeId, ...addresses, version: '1.3.0' });
  expect((await queries.listNodes()).nodes).toMatchObject([{ ...listed, version: '1.3.0' }]);
  // As a server from before the column does it.
  const old = randomUUID() as NodeId;
  await fixture.sql('insert into node (node_id, beat, peer_address, gateway_address) values ($1, 1, $2, $2)', [
    old,
    'b:1',
  ]);
  const { nodes } = await queries.listNodes();
  expect(nodes.find((node) => node.nodeId === old)).toMatchObject({ gatewayAddress: 'b:1', version: null });
});

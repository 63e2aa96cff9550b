/** Histories with a plot: one thing goes wrong, and what is promised for it is looked at closely. */
import { type Command, makeRunUid, type RunId, type ShardNo, type VersionNo } from '@signalbox/engine';
import type { Host } from '@signalbox/host';
import type { Store } from '@signalbox/store';
import { expect, test } from 'vitest';
import { CLOCKS, JOB, named, ownerOf, queue, setUp } from './testing/scene.ts';
import type { SimNode } from './world/node.ts';
import { SimWorker } from './world/worker.ts';

/** These runs come from the database as if of a version that there is not. */
function spoilLoads(host: Host, spoilt: ReadonlySet<RunId>): void {
  const { store } = (host as unknown as { ownership: { ports: { store: Store } } }).ownership.ports;
  const loadHeads = store.loadHeads.bind(store);
  store.loadHeads = async (shards, perPriority) => {
    const heads = await loadHeads(shards, perPriority);
    const runs = heads.runs.map((run) => (spoilt.has(run.runId) ? { ...run, versionNo: 99 as VersionNo } : run));
    return { ...heads, runs };
  };
}

test.each([
  ['is killed', 5_000, (node: SimNode) => node.crash('kill')],
  ['loses power', 5_000, (node: SimNode) => node.crash('power')],
  ['leaves in order', 1_000, (node: SimNode) => node.leave()],
] as const)('an owner %s: others dispatch its work within %i ms (I18)', async (_how, withinMs, go) => {
  const box = setUp({ nodes: 3, workers: 2 });
  await box.pass(4_000);
  const shard = 11 as ShardNo;
  const dagId = await box.deploy(shard);
  const owner = ownerOf(box, shard);
  go(owner);
  const since = box.world.now;
  await box.pass(1);
  const run = await box.submit(shard, dagId);
  while (run.phase !== 'ended' && box.world.now < since + 20_000) await box.pass(10);
  expect(box.world.history.broken).toBeNull();
  expect(run.outcome).toBe('succeeded');
  expect(box.world.now - since).toBeLessThan(withinMs);
});

test('a run that can not be loaded is set aside, visibly, and stops no other of its shard (I57)', async () => {
  const spoilt = new Set<RunId>();
  const box = setUp({ nodes: 1, workers: 0, onHost: (host) => spoilLoads(host, spoilt) });
  box.world.mayLogErrors = true;
  await box.pass(1_000);
  const shard = 11 as ShardNo;
  const dagId = await box.deploy(shard);
  const [bad, good] = [await box.submit(shard, dagId), await box.submit(shard, dagId)];
  const { world } = box;
  spoilt.add(bad.created.runId);
  world.nodes[0]!.crash('kill');
  world.workers.push(new SimWorker(world, 'w0', { slots: 2, queues: [queue], tenants: null }, CLOCKS));
  world.workers[0]!.start();
  world.nodes[0]!.start();
  await box.pass(15_000);
  expect(bad.isSetAside).toBe(true);
  expect(good.outcome).toBe('succeeded');
});

test('a careful load that breaks off for want of the database blames nobody and is done again (I57)', async () => {
  const box = setUp({ nodes: 1, workers: 0 });
  await box.pass(1_000);
  const shard = 11 as ShardNo;
  const dagId = await box.deploy(shard);
  const runs = [await box.submit(shard, dagId), await box.submit(shard, dagId)];
  const { world } = box;
  // Three loads without a commit: the next one is careful.
  for (let i = 0; i < 3; i++) {
    world.nodes[0]!.crash('kill');
    world.nodes[0]!.start();
    await box.pass(6_000);
  }
  let refusals = 3;
  world.database.faults = {
    onStep: ({ call, point }) => (call === 'touch' && point === 'commit' && refusals-- > 0 ? 'refuse' : 'ok'),
  };
  world.nodes[0]!.crash('kill');
  world.nodes[0]!.start();
  world.workers.push(new SimWorker(world, 'w0', { slots: 2, queues: [queue], tenants: null }, CLOCKS));
  world.workers[0]!.start();
  await box.pass(15_000);
  expect(refusals).toBeLessThan(3);
  expect(runs.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
  expect(world.history.broken).toBeNull();
});

test('a node that stood still for longer than the lease gives up none whose heartbeats have arrived (I25)', async () => {
  const box = setUp({ nodes: 1, workers: 2 });
  await box.pass(1_000);
  const shard = 11 as ShardNo;
  const long = { ...JOB, tasks: [{ ...JOB.tasks[0]!, handler: 'long' }] };
  const dagId = await box.deploy(shard, long);
  const first = await box.submit(shard, dagId, { count: 4 });
  await box.pass(200);
  box.world.nodes[0]!.pause('stopped');
  await box.pass(20_000);
  box.world.nodes[0]!.resume(true);
  await box.pass(60_000);
  expect(box.world.history.broken).toBeNull();
  expect(first.phase).toBe('ended');
  expect([...first.tasks.values()].map(({ lost }) => lost)).toEqual([0]);
});

test('a command that waited at an owner while the shard was another’s is not done when it has it again (I6, I11)', async () => {
  const box = setUp({ nodes: 2, workers: 0 });
  await box.pass(4_000);
  const shard = 11 as ShardNo;
  const dagId = await box.deploy(shard);
  const owner = ownerOf(box, shard);
  const other = box.world.nodes.find((node) => node !== owner)!;
  const deployed = (hash: string): Command => {
    const dag = { name: `dag of ${shard}`, hash, spec: { ...JOB, description: hash }, tenant: 'default' };
    return { kind: 'DeployDag', shard, ...named, ...dag };
  };
  const uid = makeRunUid(shard, other.process.wall(), 1, 1);
  const what = { dagId, uid, items: [{ params: null, priority: null }], mayRepeat: false };
  const keyed: Command = { kind: 'SubmitRuns', shard, ...named, ...what, key: { key: 'k', bodyHash: 'b' } };
  owner.pause('stopped');
  const first = [box.ask(other, keyed), box.ask(other, deployed('two'))];
  // They lie unread at the owner; the link dies without a word, so that it never hears that nobody waits for them.
  await box.pass(2_500);
  const heal = box.world.network.cut(other.machine, owner.machine);
  for (const answer of await Promise.all(first)) expect(answer).toMatchObject({ status: 'answered' });
  expect(await box.ask(other, deployed('three'))).toMatchObject({ status: 'answered', answer: { ok: true } });
  // What they need to see can't be read for a moment: they stay undecided, and wait for the next engine.
  const readableFrom = box.world.now + 200;
  box.world.database.faults = {
    onStep: ({ call, store }) =>
      call === 'read' && store === owner.machine && box.world.now < readableFrom ? 'refuse' : 'ok',
  };
  owner.resume(false);
  await box.pass(10_000);
  heal();
  expect(ownerOf(box, shard)).toBe(owner);
  expect(box.watch.ledger.dags.get(dagId)?.spec.description).toBe('three');
});

test('a slow commit and a clock that is set back make no backoff look too short (I40)', async () => {
  const box = setUp({ nodes: 1, workers: 4 });
  await box.pass(4_000);
  const backoff = { maxAttempts: 9, minMs: 2_500, baseMs: 2_500, factor: 1, maxMs: 2_500, maxLost: 3 };
  const task = { ...JOB.tasks[0]!, handler: 'flaky', retry: backoff, timeoutMs: 2_000 };
  const dagId = await box.deploy(5 as ShardNo, { ...JOB, tasks: [task] });
  await box.submit(5 as ShardNo, dagId, { count: 8 });
  const [node] = box.world.nodes;
  // Attempts end while commits are slow; the clock goes back before their retries are due, and commits are fast again.
  box.world.database.slowness = 20;
  await box.pass(1_500);
  box.world.database.slowness = 1;
  node!.jumpClock(-158);
  await box.pass(10_000);
  const retried = [...box.watch.ledger.runs.values()].flatMap(({ tasks }) => [...tasks.values()]);
  expect(retried.filter(({ attemptNo }) => attemptNo > 1).length).toBeGreaterThan(2);
});

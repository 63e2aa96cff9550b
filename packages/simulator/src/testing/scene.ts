/** A small cluster for histories with a plot: a few nodes and workers, and a hand that deploys, submits and lets time pass. */
import {
  type Actor,
  type Command,
  type DagId,
  type DagSpec,
  makeRunUid,
  type QueueName,
  type ShardNo,
  type TenantId,
} from '@signalbox/engine';
import type { Host, Routed } from '@signalbox/host';
import { expect } from 'vitest';
import { Watch } from '../checkers/index.ts';
import { SimNode } from '../world/node.ts';
import { SimWorker } from '../world/worker.ts';
import { World } from '../world/world.ts';

export const CLOCKS = { skewMs: 0, drift: 0 };
export const queue = 'default' as QueueName;
const retry = { maxAttempts: 1, minMs: 0, baseMs: 0, factor: 1, maxMs: 0, maxLost: 3 };
export const JOB: DagSpec = {
  tasks: [{ name: 'job', handler: 'quick', queue, needs: [], retry, timeoutMs: null }],
  priority: 'normal',
  maxActiveRuns: null,
  maxActiveTasks: null,
  schedule: null,
};
export const named = { tenantId: 1 as TenantId, actor: 'token:sim' as Actor };

interface SetUp {
  readonly nodes: number;
  readonly workers?: number;
  readonly onHost?: (host: Host) => void;
  readonly seed?: number;
}

export function setUp({ nodes, workers = 1, onHost, seed = 1 }: SetUp) {
  const world = new World({ seed });
  for (let i = 0; i < nodes; i++)
    world.nodes.push(new SimNode(world, `n${i}`, CLOCKS, onHost === undefined ? {} : { onHost }));
  for (let i = 0; i < workers; i++) {
    world.workers.push(new SimWorker(world, `w${i}`, { slots: 2, queues: [queue], tenants: null }, CLOCKS));
  }
  const watch = new Watch(world);
  for (const machine of [...world.nodes, ...world.workers]) machine.start();
  const pass = async (ms: number) => {
    await world.runUntil(world.now + ms);
    if (world.history.broken !== null) throw new Error(JSON.stringify(world.history.broken));
  };
  /** Asks a node, and lets time pass until it has answered. */
  const ask = async (node: SimNode, command: Command): Promise<Routed> => {
    let result: Routed | null = null;
    askCount += 1;
    const at = world.now;
    const asked = { no: askCount, client: 'test', node: node.machine, command, deadlineMs: 10_000, at };
    world.history.add({ kind: 'asked', ask: asked });
    void node.host?.ask(command, asked.deadlineMs).then((routed) => {
      world.history.add({ kind: 'told', ask: asked, result: routed });
      result = routed;
    });
    while (result === null) await pass(1);
    return result;
  };
  let askCount = 0;
  const deploy = async (shard: ShardNo, spec: DagSpec = JOB): Promise<DagId> => {
    const node = world.nodes.find(({ isUp }) => isUp)!;
    const dag = { name: `dag of ${shard}`, hash: 'one', spec, tenant: 'default' };
    const result = await ask(node, { kind: 'DeployDag', shard, ...named, ...dag });
    if (result.status !== 'answered' || !result.answer.ok || result.answer.kind !== 'deployed')
      throw new Error('refused');
    return result.answer.dagId;
  };
  let uidCount = 0;
  const submit = async (shard: ShardNo, dagId: DagId, { count = 1, at }: { count?: number; at?: SimNode } = {}) => {
    uidCount += 1;
    const node = at ?? world.nodes.find(({ isUp }) => isUp)!;
    const uid = makeRunUid(shard, node.process.wall(), uidCount, uidCount);
    const items = Array.from({ length: count }, () => ({ params: null, priority: null }));
    const what = { dagId, uid, items, key: null, mayRepeat: false };
    const result = await ask(node, { kind: 'SubmitRuns', shard, ...named, ...what });
    expect(result).toMatchObject({ status: 'answered', answer: { ok: true } });
    return watch.ledger.byUid.get(uid)!;
  };
  return { world, watch, pass, ask, deploy, submit };
}

export type Scene = ReturnType<typeof setUp>;

export const ownerOf = ({ world, watch }: Scene, shard: ShardNo): SimNode =>
  world.nodes.find(({ nodeId }) => nodeId === watch.ledger.shard(shard).owner)!;

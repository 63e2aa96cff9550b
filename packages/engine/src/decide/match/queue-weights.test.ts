import { describe, expect, test, vi } from 'vitest';
import type { QueueName, TenantId } from '../../model/ids.ts';
import { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, type TaskOptions, task } from '../../testing/specs.ts';

const WEIGHTS = { high: 4, default: 4, batch: 2 };
const NAMES = Object.keys(WEIGHTS) as QueueName[];

function fleet(): Scenario {
  const box = scenario({ runs: 0, audit: false });
  box.worker().queues = NAMES;
  return box;
}

/** So many runs with one task each in this queue. */
function fill(box: Scenario, queue: string, count: number, options: TaskOptions = {}, name = queue): void {
  box.dagId = box.deploy(dag([task('job', [], { queue, ...options })]), name);
  box.submit({ count });
}

/** From which queues the next slots take, in order. */
function take(box: Scenario, count: number, weights: Record<string, number> | null = WEIGHTS): string[] {
  const before = box.worker().assigned.length;
  for (let i = 0; i < count; i++) box.lend(box.worker(), 1, true, 0, weights === null ? {} : { weights });
  return box
    .worker()
    .assigned.slice(before)
    .map(({ version, claim }) => version.spec.tasks[claim.taskNo]!.queue);
}

const counts = (taken: readonly string[]) =>
  Object.fromEntries([...new Set(taken)].sort().map((name) => [name, taken.filter((one) => one === name).length]));

describe('a worker that gives its queues weights', () => {
  test('takes from them in that proportion while all have work, however old that is', () => {
    const box = fleet();
    fill(box, 'batch', 100);
    fill(box, 'default', 100);
    fill(box, 'high', 100);
    expect(counts(take(box, 50))).toEqual({ batch: 10, default: 20, high: 20 });
    // In each part of it, too: no queue waits for long.
    expect(counts(take(box, 10))).toEqual({ batch: 2, default: 4, high: 4 });
  });

  test('never idles while one of them has work', () => {
    const box = fleet();
    fill(box, 'batch', 30);
    expect(counts(take(box, 20))).toEqual({ batch: 20 });
  });

  test('gives nothing in arrears to a queue that had no work for a while', () => {
    const box = fleet();
    fill(box, 'batch', 100);
    take(box, 50);
    fill(box, 'high', 100);
    expect(counts(take(box, 12))).toEqual({ batch: 4, high: 8 });
  });

  test('takes a higher priority first, whatever its queue', () => {
    const box = fleet();
    fill(box, 'high', 20);
    box.dagId = box.deploy(dag([task('job', [], { queue: 'batch' })], { priority: 'high' }), 'urgent');
    box.submit({ count: 5 });
    expect(counts(take(box, 5))).toEqual({ batch: 5 });
  });

  test('counts tasks that ask for resources with the others of their queue, and passes over those without room (I47)', () => {
    const box = fleet();
    fill(box, 'high', 50, { placement: { resources: { cpu: 1_000 } } }, 'placed');
    fill(box, 'high', 50);
    fill(box, 'batch', 50);
    const traits = { slots: 50, resources: { cpu: 2_000 }, labels: {} };
    box.lend(box.worker(), 0, true, 0, { traits, room: traits.resources, weights: WEIGHTS });
    expect(counts(take(box, 30))).toEqual({ batch: 10, high: 20 });
    const placed = box.worker().assigned.filter(({ booking }) => booking !== undefined && booking !== null);
    expect(placed).toHaveLength(2);
  });

  test('leaves out a queue that is frozen or at its limit, and comes back to it', () => {
    const box = fleet();
    fill(box, 'high', 50);
    fill(box, 'batch', 50);
    const frozen = [{ tenantId: 1 as TenantId, kind: 'queue' as const, name: 'high' }];
    box.feed({ kind: 'SetFrozen', frozen });
    expect(counts(take(box, 10))).toEqual({ batch: 10 });
    box.feed({ kind: 'SetFrozen', frozen: [] });
    // Its turn comes first, but it gets nothing in arrears.
    expect(take(box, 2)).toEqual(['high', 'high']);
    expect(counts(take(box, 12))).toEqual({ batch: 4, high: 8 });
  });

  test('goes on in proportion after a takeover (I17)', () => {
    const box = fleet();
    fill(box, 'high', 50);
    fill(box, 'batch', 50);
    take(box, 6);
    box.killOwner();
    expect(counts(take(box, 30))).toEqual({ batch: 10, high: 20 });
  });

  test('shares by tenant first: a queue with a large weight brings its tenant nothing (I48)', () => {
    const box = fleet();
    box.worker().tenants = null;
    const submit = (tenantId: TenantId, queue: string) => {
      const named = { tenantId, tenant: `t${tenantId}`, name: `dag-${tenantId}-${queue}`, hash: 'x' };
      const spec = dag([task('job', [], { queue })]);
      const deployed = box.feed({ kind: 'DeployDag', shard: box.shard, ...named, spec, actor: box.actor });
      if (!deployed.ok || deployed.kind !== 'deployed') throw new Error('refused');
      box.submit({ tenantId, dagId: deployed.dagId, count: 50 });
    };
    submit(10 as TenantId, 'high');
    submit(11 as TenantId, 'batch');
    expect(counts(take(box, 20))).toEqual({ batch: 10, high: 10 });
  });
});

test('a queue without a weight among others counts as 1, and without any the dags take turns', () => {
  const box = fleet();
  fill(box, 'batch', 40);
  fill(box, 'batch', 40, {}, 'more');
  fill(box, 'high', 40);
  expect(counts(take(box, 21, null))).toEqual({ batch: 14, high: 7 });
  expect(counts(take(box, 15, { high: 4 }))).toEqual({ batch: 3, high: 12 });
});

test('workers with other weights are another group, and each has its own proportion', () => {
  const box = scenario({ runs: 0, audit: false, workers: ['w1', 'w2'] });
  for (const name of ['w1', 'w2']) box.worker(name).queues = NAMES;
  fill(box, 'high', 60);
  fill(box, 'batch', 60);
  box.lend(box.worker('w1'), 30, true, 0, { weights: { high: 1, batch: 2 } });
  box.lend(box.worker('w2'), 30, true, 0, { weights: { high: 2, batch: 1 } });
  const takenBy = (name: string) =>
    counts(box.worker(name).assigned.map(({ version, claim }) => version.spec.tasks[claim.taskNo]!.queue));
  expect(takenBy('w1')).toEqual({ batch: 20, high: 10 });
  expect(takenBy('w2')).toEqual({ batch: 10, high: 20 });
});

test('however many tasks and dags wait, a claim looks at no more queues', () => {
  const looks = (dags: number, runs: number) => {
    const box = fleet();
    for (const queue of NAMES) for (let no = 0; no < dags; no++) fill(box, queue, runs, {}, `${queue}-${no}`);
    take(box, 1);
    const spy = vi.spyOn(ReadyQueue.prototype, 'headAt');
    take(box, 1);
    const count = spy.mock.calls.length;
    spy.mockRestore();
    return count;
  };
  expect(looks(20, 50)).toBeLessThanOrEqual(looks(1, 5));
});

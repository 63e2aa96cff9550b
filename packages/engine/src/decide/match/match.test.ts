import { describe, expect, test } from 'vitest';
import { PRIORITIES, type Priority } from '../../model/dag/spec.ts';
import type { QueueName, TenantId } from '../../model/ids.ts';
import { scenario, TENANT } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';
import { demandOf } from './demand.ts';

describe('of two tasks fit for the same slot the higher priority is claimed first, then the older run (I49)', () => {
  test('by priority, whatever the order of submission', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const submitted: Priority[] = ['low', 'critical', 'normal', 'high', 'normal', 'critical'];
    for (const priority of submitted) box.submit({ priority });
    const claimed = submitted.map(() => submitted[box.runIds.indexOf(box.claim('job').claim.runId)]!);
    expect(claimed).toEqual(submitted.toSorted((a, b) => PRIORITIES.indexOf(a) - PRIORITIES.indexOf(b)));
  });

  test('within a priority by age, over all dags', () => {
    const box = scenario({ dag: job(), runs: 1 });
    const other = box.deploy(job(), 'other');
    for (const dagId of [other, box.dagId, other, other, box.dagId]) box.submit({ dagId });
    const claimed = box.runIds.map(() => box.claim('job').claim.runId);
    expect(claimed).toEqual(box.runIds);
  });

  test('an old run goes on before a new one begins', () => {
    const box = scenario({ dag: dag([task('a'), task('b', [0])]), runs: 2 });
    box.report(box.claim('a'), 'succeeded');
    expect(box.claim('b').claim.runId).toBe(box.runIds[0]);
  });

  test('a retry stands where its run stands', () => {
    const box = scenario({ dag: job({ retry: { maxAttempts: 2, baseMs: 0 } }), runs: 3 });
    box.report(box.claim('job'), 'transient');
    expect(box.claim('job').claim.runId).toBe(box.runIds[0]);
  });

  test('a critical task passes ten thousand that wait', () => {
    const box = scenario({ dag: job(), runs: 0, audit: false });
    for (let i = 0; i < 10; i++) box.submit({ count: 1_000, priority: 'low' });
    box.submit({ priority: 'critical' });
    expect(box.claim('job').claim.runId).toBe(box.lastRun());
  });

  test('the order is the same after a handover', () => {
    const box = scenario({ dag: job(), runs: 0 });
    for (const priority of ['low', 'high', 'normal', 'high'] as const) box.submit({ priority });
    const order = [1, 3, 2, 0].map((i) => box.runIds[i]);
    expect(order.map(() => box.killOwner().claim('job').claim.runId)).toEqual(order);
  });
});

describe('queues', () => {
  const two = dag([task('cpu', [], { queue: 'cpu' }), task('gpu', [], { queue: 'gpu' })]);

  test('a slot goes only to a task of a queue that its worker listens to (I24)', () => {
    const box = scenario({ dag: two, workers: { c: ['cpu'], g: ['gpu'], n: ['none'] } });
    expect(box.tryClaim(box.worker('n'))).toBeNull();
    box.claim('gpu', box.worker('g'));
    expect(box.tryClaim(box.worker('g'))).toBeNull();
    box.claim('cpu', box.worker('c'));
  });

  test('over several queues of one worker, priority first, then age (I49)', () => {
    const box = scenario({ dag: two, workers: { w1: ['gpu', 'cpu'] }, runs: 0 });
    box.submit({ priority: 'low' });
    box.submit({ priority: 'high' });
    box.submit({ priority: 'low' });
    const [old, urgent, young] = box.runIds;
    const claimed = Array.from({ length: 6 }, () => box.tryClaim()!.claim.runId);
    expect(claimed).toEqual([urgent, urgent, old, old, young, young]);
  });

  test('a queue without slots holds up no other (I47)', () => {
    const box = scenario({ dag: two, workers: { g: ['gpu'] }, runs: 20 });
    const claimed = box.runIds.map(() => box.claim('gpu').claim.runId);
    expect(claimed).toEqual(box.runIds);
  });

  test('a worker that changes its queues is asked by the new ones only', () => {
    const box = scenario({ dag: two, workers: { w1: ['cpu'] }, runs: 0 });
    box.lend(box.worker(), 1, true);
    box.worker().queues = ['gpu'] as unknown as readonly QueueName[];
    box.lend(box.worker(), 1, true);
    box.submit();
    expect(box.task('cpu').state).toBe('ready');
    expect(box.task('gpu').state).toBe('running');
  });

  test('slots of several workers are used in turn', () => {
    const box = scenario({ dag: job(), workers: ['w1', 'w2', 'w3'], runs: 0 });
    for (const worker of box.workers.values()) box.lend(worker, 2, true);
    box.submit({ count: 6 });
    expect([...box.workers.values()].map(({ assigned }) => assigned.length)).toEqual([2, 2, 2]);
  });

  test('demand is what is ready and not held back, by queue and priority (D6)', () => {
    const box = scenario({ dag: two, runs: 3 });
    const limited = box.deploy(job({ maxActiveTasks: 1 }), 'limited');
    box.submit({ dagId: limited, priority: 'high' });
    box.submit({ dagId: limited, priority: 'high' });
    expect(demandOf(box.state)).toEqual([
      { tenantId: TENANT, queue: 'cpu', counts: [0, 0, 3, 0] },
      { tenantId: TENANT, queue: 'gpu', counts: [0, 0, 3, 0] },
      { tenantId: TENANT, queue: 'default', counts: [0, 2, 0, 0] },
    ]);
    box.claim('job');
    expect(demandOf(box.state).map(({ queue }) => queue)).toEqual(['cpu', 'gpu']);
  });
});

describe('loans (D6)', () => {
  test('for one decision: what is not used goes back at once', () => {
    const box = scenario({ dag: job(), runs: 2 });
    box.lend(box.worker(), 5);
    expect(box.worker()).toMatchObject({ returned: 3 });
    box.submit();
    expect(box.task('job').state).toBe('ready');
  });

  test('standing: kept until work comes', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.lend(box.worker(), 2, true);
    expect(box.worker().returned).toBe(0);
    box.submit({ count: 3 });
    expect(box.worker().assigned).toHaveLength(2);
  });

  test.each([
    [1, 1],
    [2, 2],
    [9, 2],
    [0, 0],
  ])('of two standing ones a recall of %i gives back %i', (count, expected) => {
    const box = scenario({ dag: job(), runs: 0 });
    const worker = box.worker();
    box.lend(worker, 2, true);
    box.feed({ kind: 'RecallSlots', gateway: worker.gateway, workerId: worker.id, count });
    expect(worker.returned).toBe(expected);
    box.submit({ count: 5 });
    expect(worker.assigned).toHaveLength(2 - expected);
  });

  test('lent again through another gateway the first loan is void: a slot is never counted twice (I24)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    const worker = box.worker();
    box.lend(worker, 2, true);
    worker.gateway = 'second' as typeof worker.gateway;
    box.heartbeat(worker).lend(worker, 2, true);
    box.submit({ count: 5 });
    expect(worker.assigned).toHaveLength(2);
    expect(worker.assigned[0]!.gateway).toBe('second');
  });

  test('an ended attempt gives its slot to the worker, not to the owner: the gateway lends it again', () => {
    const box = scenario({ dag: job(), runs: 2 });
    box.report(box.claim('job'), 'succeeded');
    expect(box.task('job', box.runIds[1]).state).toBe('ready');
  });

  test('submit, readiness and claim are one step when a slot is free (D3)', () => {
    const box = scenario({ dag: job(), runs: 0 });
    box.lend(box.worker(), 1, true);
    box.submit();
    const batch = box.node.journal.slice(-2).map(({ kind }) => kind);
    expect(batch).toEqual(['RunCreated', 'AttemptClaimed']);
  });
});

test('a worker gets no task of another tenant, whatever its queues are called; the two hold each other up in nothing (I65)', () => {
  const box = scenario({ dag: job(), workers: ['ours', 'theirs'], runs: 1 });
  const [ours, theirs] = [box.worker('ours'), box.worker('theirs')];
  const other = 2 as TenantId;
  theirs.tenants = [other];
  theirs.queues = ['default', '1/default'] as never;
  expect(box.tryClaim(theirs)).toBeNull();
  expect(demandOf(box.state)).toMatchObject([{ tenantId: 1, queue: 'default' }]);
  const { shard, actor } = box;
  const named = { tenantId: other, tenant: 'theirs', name: 'etl', hash: 'x' };
  const deployed = box.feed({ kind: 'DeployDag', shard, ...named, spec: job(), actor });
  if (!deployed.ok || deployed.kind !== 'deployed') throw new Error('refused');
  box.submit({ tenantId: other, dagId: deployed.dagId });
  const theirRun = box.lastRun();
  expect(box.tryClaim(ours)?.claim.runId).toBe(box.runIds[0]);
  expect(box.tryClaim(ours)).toBeNull();
  expect(box.tryClaim(theirs)?.claim.runId).toBe(theirRun);
});

test('a worker whose credential is of another tenant now lends to that one only', () => {
  const box = scenario({ dag: job(), runs: 1 });
  const worker = box.worker();
  box.lend(worker, 1, true);
  const [first] = worker.assigned;
  expect(first).toBeDefined();
  worker.tenants = [2 as TenantId];
  box.lend(worker, 1, true);
  box.submit();
  expect(worker.assigned).toHaveLength(1);
});

import { describe, expect, test } from 'vitest';
import type { DagSpec } from '../../model/dag/spec.ts';
import type { DagId, TenantId } from '../../model/ids.ts';
import { type Attempt, type Scenario, scenario } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';
import { demandOf } from './demand.ts';

type Tenant = { readonly tenantId: TenantId; readonly dagId: DagId; readonly runs: Set<number> };

/** A fleet worker, and tenants with weights, each with one dag. */
function fleet(weights: readonly number[], spec: DagSpec = job()) {
  const box = scenario({ dag: job(), runs: 0, audit: false });
  const worker = box.worker();
  worker.tenants = null;
  const tenants = weights.map((weight, i): Tenant => {
    const tenantId = (i + 10) as TenantId;
    box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight, isSuspended: false }] });
    const named = { tenantId, tenant: `team-${i}`, name: `dag-${i}`, hash: 'x' };
    const deployed = box.feed({ kind: 'DeployDag', shard: box.shard, ...named, spec, actor: box.actor });
    if (!deployed.ok || deployed.kind !== 'deployed') throw new Error('refused');
    return { tenantId, dagId: deployed.dagId, runs: new Set() };
  });
  return { box, worker, tenants };
}

function submit(
  box: Scenario,
  tenant: Tenant,
  count: number,
  priority: 'critical' | 'normal' | 'low' = 'normal',
): void {
  const known = box.runIds.length;
  box.submit({ tenantId: tenant.tenantId, dagId: tenant.dagId, count, priority });
  for (const runId of box.runIds.slice(known)) tenant.runs.add(runId);
}

const ownerOf = (tenants: readonly Tenant[], { claim }: Attempt): number =>
  tenants.findIndex(({ runs }) => runs.has(claim.runId));

/** Slots that are claimed again whenever a task ends, for 13 s: slot time by tenant in the last 10 of them. */
function saturate(box: Scenario, tenants: readonly Tenant[], slots: number, ms: readonly number[]) {
  const used = tenants.map(() => 0);
  const running: { readonly attempt: Attempt; endsAt: number }[] = [];
  for (let now = 0; now < 13_000; now += 100) {
    for (const one of running.filter(({ endsAt }) => endsAt <= now)) {
      running.splice(running.indexOf(one), 1);
      box.report(one.attempt, 'succeeded');
    }
    while (running.length < slots) {
      const attempt = box.tryClaim();
      if (attempt === null) break;
      running.push({ attempt, endsAt: now + ms[ownerOf(tenants, attempt)]! });
    }
    for (const { attempt } of now < 3_000 ? [] : running) used[ownerOf(tenants, attempt)]! += 100;
    box.advance('100ms', [box.worker()]);
  }
  return used;
}

describe('tenants with ready work share the slots of a fleet by weight (I48)', () => {
  test.each([
    ['equal', [1, 1, 1], [200, 200, 200]],
    ['by weight', [1, 2, 5], [200, 200, 200]],
    ['whatever their tasks take', [1, 1, 2], [3_000, 100, 400]],
  ])('%s: within 10 %% over 10 s', (_, weights, ms) => {
    const { box, tenants } = fleet(weights);
    for (const tenant of tenants) submit(box, tenant, 1_500);
    const used = saturate(box, tenants, 8, ms);
    const total = used.reduce((sum, one) => sum + one, 0);
    const weight = weights.reduce((sum, one) => sum + one, 0);
    expect(total).toBe(8 * 100 * 100);
    used.forEach((one, i) => {
      const share = weights[i]! / weight;
      expect(Math.abs(one / total - share), used.join(' ')).toBeLessThanOrEqual(share * 0.1);
    });
  });

  test('one with ten thousand tasks does not put off the first of another', () => {
    const { box, tenants } = fleet([1, 1]);
    const [big, small] = tenants as [Tenant, Tenant];
    for (let i = 0; i < 10; i++) submit(box, big, 1_000);
    for (let i = 0; i < 50; i++) box.tryClaim();
    submit(box, small, 1);
    expect([box.tryClaim()!, box.tryClaim()!].map((one) => ownerOf(tenants, one))).toContain(1);
  });

  test('who had nothing to do saves nothing up', () => {
    const { box, tenants } = fleet([1, 1]);
    const [busy, late] = tenants as [Tenant, Tenant];
    submit(box, busy, 1_000);
    for (let i = 0; i < 100; i++) box.tryClaim();
    submit(box, late, 1_000);
    const owners = Array.from({ length: 20 }, () => ownerOf(tenants, box.tryClaim()!));
    expect(owners.filter((owner) => owner === 0).length).toBeGreaterThanOrEqual(9);
  });

  test('a priority is stronger than a share (I49)', () => {
    const { box, tenants } = fleet([1, 100]);
    const [urgent, heavy] = tenants as [Tenant, Tenant];
    submit(box, heavy, 10);
    submit(box, urgent, 10, 'critical');
    const owners = Array.from({ length: 10 }, () => ownerOf(tenants, box.tryClaim()!));
    expect(owners).toEqual(Array.from({ length: 10 }, () => 0));
  });

  test('a tenant at the limit of its dag holds up nobody, and loses nothing (I47)', () => {
    const { box, tenants } = fleet([1, 1], job({ maxActiveTasks: 2 }));
    for (const tenant of tenants) submit(box, tenant, 10);
    const first = Array.from({ length: 4 }, () => ownerOf(tenants, box.tryClaim()!)).sort((a, b) => a - b);
    expect(first).toEqual([0, 0, 1, 1]);
    expect(box.tryClaim()).toBeNull();
  });

  test('a new weight holds from then on', () => {
    const { box, tenants } = fleet([1, 1]);
    for (const tenant of tenants) submit(box, tenant, 1_000);
    const { tenantId } = tenants[1]!;
    box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight: 9, isSuspended: false }] });
    const owners = Array.from({ length: 100 }, () => ownerOf(tenants, box.tryClaim()!));
    expect(owners.filter((owner) => owner === 1).length).toBeGreaterThanOrEqual(88);
  });
});

describe('whom a slot is for (I65)', () => {
  test('a worker with a list serves those tenants alone', () => {
    const { box, worker, tenants } = fleet([1, 1, 1]);
    for (const tenant of tenants) submit(box, tenant, 2);
    worker.tenants = [tenants[0]!.tenantId, tenants[2]!.tenantId];
    const owners = Array.from({ length: 5 }, () => box.tryClaim()).map((one) =>
      one === null ? -1 : ownerOf(tenants, one),
    );
    expect(owners.sort((a, b) => a - b)).toEqual([-1, 0, 0, 2, 2]);
  });

  test('one worker lends slots for several tenants in one step, and gets back what is left', () => {
    const { box, worker, tenants } = fleet([1, 1]);
    submit(box, tenants[0]!, 5);
    submit(box, tenants[1]!, 1);
    const { gateway, id: workerId, queues } = worker;
    const loans = tenants.map(({ tenantId }) => ({
      ...({ kind: 'LendSlots', gateway, workerId, queues, tenants: [tenantId] } as const),
      ...{ count: 2, standing: false, agoMs: 0 },
    }));
    box.node.decide(loans);
    expect(worker.assigned).toHaveLength(3);
    expect(worker.returned).toBe(1);
    expect([...box.state.workers.all()][0]!.free).toBe(0);
  });
});

describe('a suspended tenant', () => {
  test('starts nothing, asks for nothing and holds up nobody; resumed it goes on', () => {
    const { box, tenants } = fleet([1, 1]);
    const [held, other] = tenants as [Tenant, Tenant];
    for (const tenant of tenants) submit(box, tenant, 2);
    const suspend = (isSuspended: boolean) =>
      box.feed({ kind: 'SetTenants', tenants: [{ tenantId: held.tenantId, weight: 1, isSuspended }] });
    suspend(true);
    expect(demandOf(box.state).map(({ tenantId }) => tenantId)).toEqual([other.tenantId]);
    const owners = Array.from({ length: 3 }, () => box.tryClaim()).map((one) =>
      one === null ? -1 : ownerOf(tenants, one),
    );
    expect(owners).toEqual([1, 1, -1]);
    suspend(false);
    expect(ownerOf(tenants, box.tryClaim()!)).toBe(0);
  });

  test('also what becomes ready while it is suspended, in a queue that is new, waits', () => {
    const { box, worker, tenants } = fleet([1]);
    const { tenantId } = tenants[0]!;
    box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight: 1, isSuspended: true }] });
    box.lend(worker, 1, true);
    submit(box, tenants[0]!, 1);
    expect(worker.assigned).toHaveLength(0);
    box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight: 1, isSuspended: false }] });
    expect(worker.assigned).toHaveLength(1);
  });
});

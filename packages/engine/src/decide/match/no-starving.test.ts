import { expect, test } from 'vitest';
import type { DagId, TenantId } from '../../model/ids.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { job } from '../../testing/specs.ts';

/** Two tenants with two dags each, one slot, and at each of its claims a new run of every dag: what waits grows for ever. */
const TENANTS = [
  { tenantId: 10 as TenantId, weight: 1 },
  { tenantId: 11 as TenantId, weight: 5 },
];
const DAGS = 2;
const OLDER = 3;

function setUp() {
  const box = scenario({ dag: job(), runs: 0, audit: false });
  box.worker().tenants = null;
  const dags = TENANTS.flatMap(({ tenantId, weight }) => {
    box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight, isSuspended: false }] });
    return Array.from({ length: DAGS }, (_, i) => ({ tenantId, weight, dagId: deploy(box, tenantId, `dag-${i}`) }));
  });
  return { box, dags };
}

function deploy(box: Scenario, tenantId: TenantId, name: string): DagId {
  const named = { tenantId, tenant: `team-${tenantId}`, name, hash: 'x' };
  const answer = box.feed({ kind: 'DeployDag', shard: box.shard, ...named, spec: job(), actor: box.actor });
  if (!answer.ok || answer.kind !== 'deployed') throw new Error('refused');
  return answer.dagId;
}

test('without ageing nothing starves within a class: a task waits for older runs of its dag, turns of dags, and shares (I29)', () => {
  const { box, dags } = setUp();
  const weights = TENANTS.reduce((sum, { weight }) => sum + weight, 0);
  const marked = dags.map(({ tenantId, dagId, weight }) => {
    box.submit({ tenantId, dagId, count: OLDER + 1 });
    // Its share of the tenant's share, for each that is older and itself; and one round more, as it does not begin first.
    const within = (OLDER + 2) * DAGS * Math.ceil(weights / weight);
    return { runId: box.runIds.at(-1)!, within };
  });
  const claimedAt = new Map<number, number>();
  for (let claims = 0; claims < Math.max(...marked.map(({ within }) => within)); claims++) {
    for (const { tenantId, dagId } of dags) box.submit({ tenantId, dagId, count: 1 });
    const attempt = box.tryClaim()!;
    claimedAt.set(attempt.claim.runId, claims);
    // The share is one of time: all tasks take the same.
    box.advance('200ms', [box.worker()]);
    box.report(attempt, 'succeeded');
  }
  const late = marked.filter(({ runId, within }) => (claimedAt.get(runId) ?? Number.POSITIVE_INFINITY) > within);
  expect(late).toEqual([]);
});

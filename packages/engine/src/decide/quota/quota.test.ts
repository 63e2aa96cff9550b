import { describe, expect, test } from 'vitest';
import type { Command } from '../../model/command.ts';
import type { Actor, Instant } from '../../model/ids.ts';
import { tenantLimit } from '../../model/limit.ts';
import { type QuotaName, quotaCount, quotaHome } from '../../model/quota.ts';
import { reportOf, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, every, job, task } from '../../testing/specs.ts';

const HOME = quotaHome(TENANT);
const OWN = { shard: HOME, tenantId: TENANT, actor: 'token:a' as Actor } as const;

interface Limits {
  readonly soft?: number;
  readonly hard?: number;
}

/** The shard of its dags and the home of the tenant; what nodes read is told at once. */
function setUp(spec = job()): Scenario {
  const first = scenario().shard;
  return scenario({ dag: spec, runs: 0, shards: [...new Set([first, HOME])] });
}

function told(box: Scenario, used = 0): void {
  const rows = box.node.store.tables.described.all('quotas');
  const quotas = rows.map(({ tenantId, quota, soft, hard, raisedSoft, raisedHard, raisedUntil }) => ({
    ...{ tenantId, quota, used },
    ...(raisedUntil === null ? { soft, hard } : { soft: raisedSoft, hard: raisedHard }),
  }));
  box.feed({ kind: 'SetQuotas', quotas });
}

function set(box: Scenario, quota: QuotaName, { soft, hard }: Limits): void {
  box.feed({ kind: 'SetQuota', ...OWN, quota, soft: soft ?? null, hard: hard ?? null });
  told(box);
}

const take = (box: Scenario, quota: 'submits' | 'deploys', count = 1) =>
  box.feed({ kind: 'TakeQuota', shard: HOME, tenantId: TENANT, quota, count });

/** As the router does it: counted first. */
function submit(box: Scenario, items = 1) {
  const one = box.submission();
  const command: Command = { ...one, items: Array.from({ length: items }, () => one.items[0]!) };
  const answer = box.feed(command);
  if (answer.ok || answer.code !== 'QUOTA_NEEDED') return answer;
  const taken = take(box, 'submits', items);
  return taken.ok ? box.feed({ ...command, isCounted: true }) : taken;
}

const refusal = (answer: ReturnType<typeof submit>) =>
  answer.ok || answer.code !== 'QUOTA_EXCEEDED' ? null : (JSON.parse(answer.detail) as { retryAfterMs: number });
const levels = (box: Scenario) => box.changes('QuotaPassed').map(({ quota, level }) => `${quota} ${level}`);

describe('a quota of submissions', () => {
  test('is needed before anything is stored, and refuses what is beyond it (I50)', () => {
    const box = setUp();
    set(box, 'submits', { hard: 3 });
    expect(box.feed(box.submission())).toMatchObject({ ok: false, code: 'QUOTA_NEEDED' });
    expect(box.changes('RunCreated')).toEqual([]);
    expect(submit(box, 2)).toMatchObject({ ok: true });
    // A batch is all or nothing: two are more than there is.
    const over = refusal(submit(box, 2));
    expect(over?.retryAfterMs).toBeGreaterThan(50_000);
    expect(submit(box)).toMatchObject({ ok: true });
    expect(refusal(submit(box))).not.toBeNull();
    expect(box.changes('RunCreated')).toHaveLength(3);
    box.advance('64s');
    expect(submit(box, 3)).toMatchObject({ ok: true });
  });

  test('counts over a handover', () => {
    const box = setUp();
    set(box, 'submits', { hard: 2 });
    expect(submit(box, 2)).toMatchObject({ ok: true });
    box.killOwner();
    told(box);
    expect(refusal(submit(box))).not.toBeNull();
  });

  test('asks nothing of a request that is a repeat (I11)', () => {
    const box = setUp();
    const keyed = { ...box.submission(), key: { key: 'once', bodyHash: 'a' } };
    expect(box.feed(keyed)).toMatchObject({ ok: true, repeated: false });
    set(box, 'submits', { hard: 0 });
    expect(box.feed(keyed)).toMatchObject({ ok: true, repeated: true });
    expect(refusal(submit(box))).not.toBeNull();
  });

  test('throttles above its soft limit and tells it once, and again when it is over', () => {
    const box = setUp();
    set(box, 'submits', { soft: 1, hard: 4 });
    for (let i = 0; i < 3; i++) submit(box);
    expect(levels(box)).toEqual(['submits soft']);
    submit(box);
    submit(box);
    expect(levels(box)).toEqual(['submits soft', 'submits hard']);
    box.advance('64s').advance('1s').advance('31s').advance('1s');
    expect(levels(box)).toEqual(['submits soft', 'submits hard', 'submits under']);
  });

  test('is raised until a time, and no longer', () => {
    const box = setUp();
    set(box, 'submits', { hard: 1 });
    expect(submit(box)).toMatchObject({ ok: true });
    const until = (box.state.now + 10_000) as Instant;
    box.feed({ kind: 'RaiseQuota', ...OWN, quota: 'submits', soft: null, hard: 3, until, reason: 'a sale' });
    expect(submit(box)).toMatchObject({ ok: true });
    box.advance('11s');
    expect(refusal(submit(box))).not.toBeNull();
    expect(box.changes('QuotaSet').at(-1)).toMatchObject({ actor: 'expiry', hard: 1, raisedUntil: null });
  });

  test('that is removed holds nothing, and none is there to be raised', () => {
    const box = setUp();
    set(box, 'submits', { hard: 0 });
    set(box, 'submits', {});
    expect(submit(box)).toMatchObject({ ok: true });
    const until = (box.state.now + 10_000) as Instant;
    const raise = { kind: 'RaiseQuota', ...OWN, quota: 'submits', soft: null, hard: 3, until, reason: 'x' } as const;
    expect(box.feed(raise)).toMatchObject({ ok: false, code: 'QUOTA_NOT_FOUND' });
    expect(box.state.quotas.counts.count(quotaCount(TENANT, 'submits'))).toBe(0);
  });
});

test('a quota of deploys counts new versions, and not the same one again', () => {
  const box = setUp();
  set(box, 'deploys', { hard: 1 });
  const deploy = (spec: ReturnType<typeof job>) => {
    const command = { kind: 'DeployDag', shard: box.shard, tenantId: TENANT, tenant: 't', name: 'new' } as const;
    const full = { ...command, spec, hash: JSON.stringify(spec), actor: OWN.actor };
    const answer = box.feed(full);
    if (answer.ok || answer.code !== 'QUOTA_NEEDED') return answer;
    const taken = take(box, 'deploys');
    return taken.ok ? box.feed({ ...full, isCounted: true as const }) : taken;
  };
  expect(deploy(job())).toMatchObject({ ok: true, changed: true });
  expect(deploy(job())).toMatchObject({ ok: true, changed: false });
  expect(deploy(dag([task('other')]))).toMatchObject({ ok: false, code: 'QUOTA_EXCEEDED' });
});

describe('runs per dag and day', () => {
  test('are counted by dag, and over a handover (I50)', () => {
    const box = setUp();
    const other = box.deploy(job(), 'other');
    set(box, 'runs', { hard: 2 });
    expect(submit(box, 2)).toMatchObject({ ok: true });
    expect(refusal(submit(box))).not.toBeNull();
    expect(box.feed(box.submission({ dagId: other }))).toMatchObject({ ok: true });
    box.killOwner();
    told(box);
    expect(refusal(submit(box))?.retryAfterMs).toBeGreaterThan(23 * 3_600_000);
  });

  test('above the soft limit the owner of the dag is told once, and the tenant is throttled', () => {
    const box = setUp();
    set(box, 'runs', { soft: 2 });
    for (let i = 0; i < 4; i++) submit(box);
    expect(box.changes('DagQuotaPassed')).toMatchObject([{ level: 'soft', used: 3 }]);
    told(box, 4);
    box.advance('1s');
    expect(levels(box)).toEqual(['runs soft']);
  });

  test('a delayed run counts when it is accepted, and not again when it begins', () => {
    const box = setUp();
    set(box, 'runs', { hard: 1 });
    const one = box.submission();
    const items = [{ ...one.items[0]!, at: (box.state.now + 5_000) as Instant }];
    const key = { key: 'later', bodyHash: '' };
    expect(box.feed({ ...one, items, key })).toMatchObject({ ok: true });
    expect(refusal(submit(box))).not.toBeNull();
    box.advance('6s');
    expect(box.changes('RunCreated')).toHaveLength(1);
  });

  test('a window beyond them is skipped, with that reason (I2)', () => {
    const box = setUp(job({ schedule: every('* * * * *') }));
    set(box, 'runs', { hard: 1 });
    box.advance('61s').advance('60s').advance('60s');
    const decided = box.changes('WindowDecided').map(({ skipped }) => skipped);
    expect(decided.slice(0, 3)).toEqual([null, 'quota', 'quota']);
  });
});

test('the quota of tasks is the cap of the tenant, which nobody else sets', () => {
  const box = setUp();
  const cap = () => box.state.limits.homes.get(tenantLimit(TENANT))?.slots;
  set(box, 'tasks', { hard: 5 });
  expect(cap()).toBe(5);
  const limit = { kind: 'SetLimit', ...OWN, limit: tenantLimit(TENANT), slots: 9 } as const;
  expect(box.feed(limit)).toMatchObject({ ok: false, code: 'LIMIT_OF_QUOTA' });
  const until = (box.state.now + 10_000) as Instant;
  box.feed({ kind: 'RaiseQuota', ...OWN, quota: 'tasks', soft: null, hard: 8, until, reason: 'x' });
  expect(cap()).toBe(8);
  box.advance('11s');
  expect(cap()).toBe(5);
  set(box, 'tasks', {});
  expect(cap()).toBeNull();
  expect(box.feed(limit)).toMatchObject({ ok: true });
});

describe('a budget of failures', () => {
  const failing = () => setUp(job());

  test('counts tasks that failed for good, and refuses submissions beyond it', () => {
    const box = failing();
    set(box, 'failures', { soft: 0, hard: 2 });
    for (let i = 0; i < 2; i++) {
      submit(box);
      box.feed(reportOf(box.claim('job'), 'permanent'));
    }
    const counted = box.node.store.tables.described.all('rateStarts').reduce((sum, { starts }) => sum + starts, 0);
    expect(counted).toBe(2);
    told(box, counted);
    box.advance('1s');
    expect(levels(box)).toEqual(['failures hard']);
    expect(refusal(submit(box))).toMatchObject({ quota: 'failures', used: 2, hard: 2 });
  });
});

import { expect, test } from 'vitest';
import type { DagId, ShardNo } from '../../model/ids.ts';
import {
  homeOf,
  type LimitName,
  poolLimit,
  queueLimit,
  shownLimit,
  startsLimit,
  tenantLimit,
} from '../../model/limit.ts';
import { blockersOf } from '../../tables/queue/blockers.ts';
import { type Attempt, reportOf, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { SlotLines } from '../../testing/slot-lines.ts';
import { dag, task } from '../../testing/specs.ts';

const SHARDS = [3, 4] as ShardNo[];
const QUEUE = queueLimit(TENANT, 'default' as Parameters<typeof queueLimit>[1]);
const LIMIT = startsLimit(QUEUE, 60_000);
const POOL = poolLimit(TENANT, 'api');

/** Two dags on two shards, and a worker with more slots than there are tasks. */
function setUp({ pooled = false, limit = LIMIT }: { readonly pooled?: boolean; readonly limit?: LimitName } = {}) {
  const box = scenario({
    shards: [...new Set([...SHARDS, homeOf(limit), homeOf(POOL)])],
    workers: { w1: ['default'] },
  });
  const lines = new SlotLines(box);
  const spec = dag([task('work', [], pooled ? { pool: { name: 'api', slots: 1 } } : {})]);
  const dags = SHARDS.map((shard) => {
    const what = { shard, tenantId: TENANT, tenant: 'acme', name: `dag-${shard}`, spec, hash: `dag-${shard}` };
    const answer = box.feed({ kind: 'DeployDag', ...what, actor: box.actor });
    if (!answer.ok || answer.kind !== 'deployed') throw new Error('The dag was refused.');
    return answer.dagId;
  });
  box.lend(box.worker(), 200, true);
  const set = (slots: number | null, name = limit) => {
    box.feed({ kind: 'SetLimit', shard: homeOf(name), tenantId: TENANT, limit: name, slots, actor: box.actor });
    const { no } = box.state.limits.homes.get(name)!;
    if (name !== POOL) box.feed({ kind: 'SetLimits', limits: [{ limit: name, no, isLimited: slots !== null }] });
    lines.deliver();
  };
  const submit = (at: number, count: number) => {
    for (let i = 0; i < count; i++) box.feed(box.submission({ shard: SHARDS[at]!, dagId: dags[at] as DagId }));
    lines.deliver();
  };
  /** Attempts are as short as can be: what has started and ended counts. */
  const started = () => {
    lines.deliver();
    for (const attempt of open(box)) box.feed(reportOf(attempt, 'succeeded'));
    lines.deliver();
    return box.changes('AttemptClaimed').length;
  };
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      box.advance('1s').heartbeat();
      started();
    }
    return started();
  };
  return { box, set, submit, started, pass };
}

function open(box: Scenario): Attempt[] {
  const ended = new Set(box.changes('AttemptEnded').map(({ runId, fence }) => `${runId}/${fence}`));
  return box.effects.flatMap((effect) =>
    effect.kind === 'SendAssignment' && !ended.has(`${effect.claim.runId}/${effect.claim.fence}`)
      ? [box.attemptOf(effect)]
      : [],
  );
}

test('dags of two shards start as many attempts per time as the rate allows, and no more (I44)', () => {
  const { set, submit, started, pass } = setUp();
  set(3);
  submit(0, 5);
  submit(1, 5);
  expect(started()).toBe(3);
  expect(pass(59)).toBe(3);
  expect(pass(9)).toBe(6);
  expect(pass(60)).toBe(9);
});

test('a shard whose starts count no more leaves room for another one', () => {
  const { set, submit, started, pass } = setUp();
  set(2);
  submit(0, 2);
  expect(started()).toBe(2);
  submit(1, 2);
  expect(pass(50)).toBe(2);
  expect(pass(20)).toBe(4);
});

test.each([
  ['tenant', setUp({ limit: startsLimit(tenantLimit(TENANT), 1_000) }), startsLimit(tenantLimit(TENANT), 1_000)],
  ['pool:api', setUp({ limit: startsLimit(POOL, 1_000), pooled: true }), startsLimit(POOL, 1_000)],
])('a rate of %s is for all that is under it', (shown, { box, set, submit, started, pass }, limit) => {
  set(100, POOL);
  set(1);
  submit(0, 2);
  submit(1, 1);
  expect(started()).toBe(1);
  expect(pass(8)).toBe(3);
  expect([shownLimit(limit), box.state.limits.countsStarts]).toEqual([`rate:${shown}`, true]);
});

test('a new owner knows what has started', () => {
  const { box, set, submit, started, pass } = setUp();
  set(2);
  submit(0, 5);
  expect(started()).toBe(2);
  box.killOwner();
  expect(pass(10)).toBe(2);
});

test('who waits is told when the next of its shard may start, and nobody waits when the rate goes', () => {
  const { box, set, submit, started } = setUp();
  set(1);
  submit(0, 2);
  expect(started()).toBe(1);
  const [blocker] = blockersOf(box.state, TENANT);
  expect(blocker).toMatchObject({ code: 'rate', subject: 'queue:default', limit: LIMIT });
  expect(blocker?.until).toBeGreaterThan(box.state.now + 59_000);
  set(null);
  expect(started()).toBe(2);
  expect([...box.state.limits.all()].every(({ used }) => used === 0)).toBe(true);
});

import { describe, expect, test } from 'vitest';
import type { Frozen } from '../../model/command.ts';
import type { TaskSpec } from '../../model/dag/spec.ts';
import type { DagId, QueueName, ShardNo } from '../../model/ids.ts';
import { CLUSTER_LIMIT, homeOf, type LimitName, poolLimit, queueLimit, tenantLimit } from '../../model/limit.ts';
import { type Attempt, reportOf, type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { SlotLines } from '../../testing/slot-lines.ts';
import { dag, task } from '../../testing/specs.ts';

const POOL = poolLimit(TENANT, 'database');
const SHARDS = [3, 4, 5] as ShardNo[];
const inPool = (slots = 1, name = 'query'): TaskSpec => task(name, [], { pool: { name: 'database', slots } });

/** Three shards with a dag each, the homes of some limits, and a worker with more slots than there are tasks. */
function setUp({ slots = 1, audit = true }: { readonly slots?: number; readonly audit?: boolean } = {}) {
  const homes = [POOL, CLUSTER_LIMIT, tenantLimit(TENANT)].map(homeOf);
  const workers = { w1: ['default'], w2: ['gpu'] };
  const box = scenario({ shards: [...new Set([...SHARDS, ...homes])], audit, workers });
  const lines = new SlotLines(box);
  const dags = SHARDS.map((shard) => deploy(box, shard, [inPool(slots)]));
  box.lend(box.worker(), 100, true);
  const submit = (at: number, more: object = {}) =>
    void box.feed(box.submission({ shard: SHARDS[at]!, dagId: dags[at]!, ...more }));
  const running = () => open(box).length;
  const end = (attempt: Attempt) => void box.feed(reportOf(attempt, 'succeeded'));
  const shardOf = ({ claim }: Attempt) => Math.floor(claim.runId / 2 ** 16) & 63;
  return { box, lines, submit, running, end, shardOf, open: () => open(box) };
}

function deploy(box: Scenario, shard: ShardNo, tasks: readonly TaskSpec[], name = `dag-${shard}`): DagId {
  const spec = dag(tasks);
  const what = { shard, tenantId: TENANT, tenant: 'acme', name, spec, hash: name, actor: box.actor };
  const answer = box.feed({ kind: 'DeployDag', ...what });
  if (!answer.ok || answer.kind !== 'deployed') throw new Error('The dag was refused.');
  return answer.dagId;
}

function open(box: Scenario): Attempt[] {
  const ended = new Set(box.changes('AttemptEnded').map(({ runId, fence }) => `${runId}/${fence}`));
  return box.effects.flatMap((effect) =>
    effect.kind === 'SendAssignment' && !ended.has(`${effect.claim.runId}/${effect.claim.fence}`)
      ? [box.attemptOf(effect)]
      : [],
  );
}

function setLimit(box: Scenario, limit: LimitName, slots: number | null) {
  return box.feed({ kind: 'SetLimit', shard: homeOf(limit), tenantId: TENANT, limit, slots, actor: box.actor });
}

function pass(box: Scenario, lines: SlotLines, seconds: number): void {
  lines.deliver();
  for (let i = 0; i < seconds; i++) {
    box.advance('1s').heartbeat();
    lines.deliver();
  }
}

/** What the home has granted in all. */
const granted = (box: Scenario, limit: LimitName) => box.state.limits.homes.get(limit)?.out() ?? 0;

describe('a pool over several shards', () => {
  test('has no more tasks running than slots, and each end lets another begin (I44, I45)', () => {
    const { box, lines, submit, running, end, open: all } = setUp();
    setLimit(box, POOL, 2);
    for (let i = 0; i < 6; i++) submit(i % 3);
    lines.deliver();
    for (let left = 6; left > 0; left--) {
      expect(running()).toBe(Math.min(2, left));
      end(all()[0]!);
      lines.deliver();
    }
    box.advance('10s');
    lines.deliver();
    expect(granted(box, POOL)).toBe(0);
  });

  test('that is not set lets nothing begin until it is', () => {
    const { box, lines, submit, running } = setUp();
    submit(0);
    lines.deliver();
    expect(running()).toBe(0);
    setLimit(box, POOL, 1);
    lines.deliver();
    expect(running()).toBe(1);
  });

  test('holds back no task outside of it (I47)', () => {
    const { box, lines, submit } = setUp();
    const other = deploy(box, SHARDS[0]!, [inPool(), task('free')], 'mixed');
    submit(0);
    box.feed(box.submission({ shard: SHARDS[0]!, dagId: other }));
    lines.deliver();
    expect(open(box).map(({ task: name }) => name)).toEqual(['free']);
  });

  test('counts the slots that a task takes, and never starts one that takes more than there are', () => {
    const { box, lines, submit, running, end, open: all } = setUp({ slots: 2 });
    setLimit(box, POOL, 3);
    submit(0);
    submit(1);
    lines.deliver();
    expect(running()).toBe(1);
    end(all()[0]!);
    lines.deliver();
    expect(running()).toBe(1);
    end(all()[0]!);
    setLimit(box, POOL, 1);
    submit(2);
    lines.deliver();
    expect(running()).toBe(0);
  });

  test('lets the shards take turns: one with a long queue gives its slot to another', () => {
    const { box, lines, submit, end, open: all, shardOf } = setUp();
    setLimit(box, POOL, 1);
    for (let i = 0; i < 30; i++) submit(0);
    lines.deliver();
    submit(1);
    lines.deliver();
    const order: number[] = [];
    for (let i = 0; i < 15; i++) {
      const [attempt] = all();
      order.push(shardOf(attempt!));
      box.advance('200ms');
      lines.deliver();
      end(attempt!);
      lines.deliver();
    }
    expect(order).toContain(SHARDS[1]);
  });

  test('gives to the higher priority first (I49)', () => {
    const { box, lines, submit, end, open: all, shardOf } = setUp();
    setLimit(box, POOL, 1);
    for (let i = 0; i < 3; i++) submit(0);
    lines.deliver();
    submit(2, { items: [{ params: null, priority: 'critical' }] });
    lines.deliver();
    end(all()[0]!);
    lines.deliver();
    expect(shardOf(all()[0]!)).toBe(SHARDS[2]);
  });

  test('a lower limit kills nothing and holds when its slots are back; a higher one lets more begin (I46)', () => {
    const { box, lines, submit, running, end, open: all } = setUp();
    setLimit(box, POOL, 3);
    for (let i = 0; i < 9; i++) submit(i % 3);
    lines.deliver();
    expect(running()).toBe(3);
    setLimit(box, POOL, 1);
    lines.deliver();
    expect([running(), granted(box, POOL)]).toEqual([3, 3]);
    end(all()[0]!);
    lines.deliver();
    end(all()[0]!);
    lines.deliver();
    expect([running(), granted(box, POOL)]).toEqual([1, 1]);
    setLimit(box, POOL, 4);
    lines.deliver();
    expect(running()).toBe(4);
  });

  test('an attempt that is lost, refused or cancelled gives its slot back (I45)', () => {
    const { box, lines, submit, running, open: all } = setUp();
    setLimit(box, POOL, 1);
    for (let i = 0; i < 3; i++) submit(i);
    lines.deliver();
    box.cancel(all()[0]!.claim.runId);
    box.feed(reportOf(all()[0]!, 'cancelled'));
    lines.deliver();
    expect(running()).toBe(1);
    box.refuse(all()[0]!);
    lines.deliver();
    expect(box.state.limits.find(SHARDS[1]!, POOL)!.used + box.state.limits.find(SHARDS[2]!, POOL)!.used).toBe(1);
  });
});

describe('a lane that another limit holds back', () => {
  test('takes no slot of the pool that a larger task needs (I29, I47)', () => {
    const { box, lines, submit, open: all, end } = setUp({ slots: 2 });
    const small = { ...inPool(1, 'small'), maxActive: 1 };
    const limited = deploy(box, SHARDS[0]!, [small], 'limited');
    const other = deploy(box, SHARDS[1]!, [inPool(1, 'other')], 'other');
    const others = () => all().filter(({ task: name }) => name === 'other');
    setLimit(box, POOL, 3);
    box.feed(box.submission({ shard: SHARDS[0]!, dagId: limited }));
    lines.deliver();
    for (let i = 0; i < 2; i++) box.feed(box.submission({ shard: SHARDS[1]!, dagId: other }));
    lines.deliver();
    expect(others()).toHaveLength(2);
    for (let i = 0; i < 3; i++) box.feed(box.submission({ shard: SHARDS[0]!, dagId: limited }));
    submit(0);
    for (const attempt of others()) {
      end(attempt);
      pass(box, lines, 10);
    }
    expect(all().map(({ task: name }) => name)).toEqual(['small', 'query']);
  });

  test('takes no slot of a cap that others can use at once, and asks for it when it has room (I29, I47)', () => {
    const { box, lines, submit, open: all, end } = setUp();
    const other = deploy(box, SHARDS[1]!, [task('other')], 'other');
    setLimit(box, CLUSTER_LIMIT, 1);
    box.feed({ kind: 'SetLimits', limits: [{ limit: CLUSTER_LIMIT, no: 1, isLimited: true }] });
    lines.deliver();
    for (let i = 0; i < 2; i++) submit(0);
    lines.deliver();
    expect(granted(box, CLUSTER_LIMIT)).toBe(0);
    box.feed(box.submission({ shard: SHARDS[1]!, dagId: other }));
    lines.deliver();
    expect(all().map(({ task: name }) => name)).toEqual(['other']);
    setLimit(box, POOL, 1);
    end(all()[0]!);
    for (let left = 2; left > 0; left--) {
      lines.deliver();
      expect(all().map(({ task: name }) => name)).toEqual(['query']);
      end(all()[0]!);
    }
    lines.deliver();
    expect([granted(box, POOL), granted(box, CLUSTER_LIMIT)]).toEqual([0, 0]);
  });
});

describe('a task that no worker takes', () => {
  const stuck = (slots: number) => task(`stuck-${slots}`, [], { queue: 'gpu', pool: { name: 'database', slots } });

  test.each([[[1]], [[1, 2]]])('keeps no larger task of its shard from its slots: %j (I26, I47)', (sizes) => {
    const { box, lines, submit, open: all, end } = setUp({ slots: 3 });
    const small = deploy(box, SHARDS[0]!, sizes.map(stuck), 'small');
    const other = deploy(box, SHARDS[1]!, [inPool(1, 'other')], 'other');
    setLimit(box, POOL, 3);
    for (let i = 0; i < 2; i++) box.feed(box.submission({ shard: SHARDS[1]!, dagId: other }));
    lines.deliver();
    box.feed(box.submission({ shard: SHARDS[0]!, dagId: small }));
    for (let i = 0; i < 2; i++) submit(0);
    lines.deliver();
    for (const attempt of all()) {
      pass(box, lines, 3);
      end(attempt);
    }
    for (let left = 2; left > 0; left--) {
      pass(box, lines, 10);
      expect(all().map(({ task: name }) => name)).toEqual(['query']);
      end(all()[0]!);
    }
    lines.deliver();
    expect(all()).toEqual([]);
  });

  test('gives its slot to another shard, though one that is in use was recalled for that shard (I29)', () => {
    const { box, lines, submit, shardOf, open: all } = setUp();
    const small = deploy(box, SHARDS[0]!, [stuck(1)], 'small');
    setLimit(box, POOL, 2);
    for (let i = 0; i < 2; i++) submit(1);
    lines.deliver();
    box.feed(box.submission({ shard: SHARDS[0]!, dagId: small }));
    pass(box, lines, 3);
    setLimit(box, POOL, 3);
    pass(box, lines, 2);
    submit(2);
    pass(box, lines, 3);
    expect(all().map(shardOf)).toEqual([SHARDS[1], SHARDS[1], SHARDS[2]]);
  });

  test('still gets its slots when a worker comes', () => {
    const { box, lines, submit, open: all } = setUp({ slots: 4 });
    const small = deploy(box, SHARDS[0]!, [stuck(1)], 'small');
    setLimit(box, POOL, 3);
    box.feed(box.submission({ shard: SHARDS[0]!, dagId: small }));
    submit(0);
    pass(box, lines, 10);
    box.lend(box.worker('w2'), 1, true);
    lines.deliver();
    expect(all().map(({ task: name }) => name)).toEqual(['stuck-1']);
  });
});

describe('a frozen queue', () => {
  const freeze = (box: Scenario, ...frozen: Pick<Frozen, 'kind' | 'name'>[]) =>
    void box.feed({ kind: 'SetFrozen', frozen: frozen.map((one) => ({ tenantId: TENANT, ...one })) });
  const suspend = (box: Scenario, isSuspended: boolean) =>
    void box.feed({ kind: 'SetTenants', tenants: [{ tenantId: TENANT, weight: 1, isSuspended }] });

  test('takes no slot that a larger task of the same shard needs (I47)', () => {
    const { box, lines, submit, open: all, end } = setUp({ slots: 2 });
    const small = task('small', [], { queue: 'gpu', pool: { name: 'database', slots: 1 } });
    const frozen = deploy(box, SHARDS[0]!, [small], 'frozen');
    const other = deploy(box, SHARDS[1]!, [inPool(1, 'other')], 'other');
    freeze(box, { kind: 'queue', name: 'gpu' });
    setLimit(box, POOL, 2);
    box.feed(box.submission({ shard: SHARDS[1]!, dagId: other }));
    lines.deliver();
    box.feed(box.submission({ shard: SHARDS[0]!, dagId: frozen }));
    lines.deliver();
    submit(0);
    lines.deliver();
    end(all()[0]!);
    pass(box, lines, 20);
    expect(all().map(({ task: name }) => name)).toEqual(['query']);
  });

  test.each<[string, (box: Scenario, isFrozen: boolean) => void]>([
    ['its queue', (box, isFrozen) => freeze(box, ...(isFrozen ? [{ kind: 'queue', name: 'default' } as const] : []))],
    ['its tenant', (box, isFrozen) => freeze(box, ...(isFrozen ? [{ kind: 'tenant', name: '' } as const] : []))],
    ['the cluster', (box, isFrozen) => freeze(box, ...(isFrozen ? [{ kind: 'cluster', name: '' } as const] : []))],
    ['a suspended tenant', suspend],
  ])('gives back its slots, and asks again after the thaw: %s', (_, set) => {
    const { box, lines, submit, running, open: all, end } = setUp();
    setLimit(box, POOL, 2);
    for (let i = 0; i < 4; i++) submit(0);
    lines.deliver();
    set(box, true);
    submit(1);
    for (let left = 2; left > 0; left--) end(all()[0]!);
    lines.deliver();
    expect([running(), granted(box, POOL)]).toEqual([0, 0]);
    set(box, false);
    lines.deliver();
    expect([running(), granted(box, POOL)]).toEqual([2, 2]);
  });
});

describe('whatever is lost on the way', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('slots are neither lost nor doubled (seed %i)', (seed) => {
    let value = seed * 7_919;
    const chance = () => (value = (Math.imul(value, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
    const { box, lines, submit, running, end, open: all } = setUp();
    const limit = 1 + Math.floor(chance() * 3);
    setLimit(box, POOL, limit);
    for (let i = 0; i < 24; i++) submit(i % 3);
    const kept: ReturnType<SlotLines['take']> = [];
    for (let i = 0; i < 200; i++) {
      for (const word of lines.take()) {
        const draw = chance();
        if (draw < 0.6) lines.bring(word);
        if (draw > 0.5 && draw < 0.9) kept.push(word);
      }
      if (chance() < 0.3 && kept.length > 0) lines.bring(kept.splice(Math.floor(chance() * kept.length), 1)[0]!);
      if (chance() < 0.3 && running() > 0) end(all()[Math.floor(chance() * running())]!);
      if (chance() < 0.1) box.killOwner().lend(box.worker(), 100, true);
      if (chance() < 0.3) box.advance('700ms').heartbeat();
      expect(running()).toBeLessThanOrEqual(limit);
      expect(granted(box, POOL)).toBeLessThanOrEqual(limit);
    }
    const ended = () => new Set(box.changes('RunEnded').map(({ runId }) => runId)).size;
    for (let i = 0; i < 120 && ended() < 24; i++) {
      lines.deliver();
      expect(running()).toBeLessThanOrEqual(limit);
      if (running() > 0) end(all()[0]!);
      box.advance('1s').heartbeat();
    }
    expect(ended()).toBe(24);
    lines.deliver();
    box.advance('5s');
    lines.deliver();
    expect([running(), granted(box, POOL)]).toEqual([0, 0]);
  });
});

describe('a cap', () => {
  const told = (box: Scenario, limit: LimitName) => {
    const { no = 0, slots = null } = box.state.limits.homes.get(limit) ?? {};
    box.feed({ kind: 'SetLimits', limits: [{ limit, no, isLimited: slots !== null }] });
  };
  const plain = (box: Scenario) => SHARDS.map((shard) => deploy(box, shard, [task('work')], `plain-${shard}`));

  test('that is set counts what runs already, and kills nothing (I46)', () => {
    const { box, lines } = setUp();
    const dags = plain(box);
    const submit = (at: number) => void box.feed(box.submission({ shard: SHARDS[at]!, dagId: dags[at]! }));
    for (let i = 0; i < 4; i++) submit(i % 3);
    expect(open(box)).toHaveLength(4);
    setLimit(box, CLUSTER_LIMIT, 2);
    told(box, CLUSTER_LIMIT);
    lines.deliver();
    expect(granted(box, CLUSTER_LIMIT)).toBe(4);
    for (let i = 0; i < 6; i++) submit(i % 3);
    lines.deliver();
    expect(open(box)).toHaveLength(4);
    let most = 4;
    for (let left = 10; left > 0; left--) {
      const { length } = open(box);
      expect(length).toBeLessThanOrEqual(most);
      most = Math.max(2, length);
      box.feed(reportOf(open(box)[0]!, 'succeeded'));
      lines.deliver();
    }
    expect([most, granted(box, CLUSTER_LIMIT)]).toEqual([2, 0]);
  });

  test('is one of many: they take a share of each step, and tasks begin meanwhile (I65, I68)', () => {
    const box = scenario({ shards: SHARDS, settings: { changesPerStep: 40 } });
    const dagId = deploy(box, SHARDS[0]!, [task('work')]);
    box.lend(box.worker(), 100, true);
    const limits = Array.from({ length: 30 }, (_, i) => queueLimit(TENANT, `unused-${i}` as QueueName));
    const all = limits.map((limit) => ({ limit, no: 1, isLimited: true }));
    box.node.decide([{ kind: 'SetLimits', limits: all }, box.submission({ shard: SHARDS[0]!, dagId })]);
    box.node.settle();
    expect(box.changes('SlotsHeld')).toHaveLength(10);
    expect(open(box)).toHaveLength(1);
    box.node.work();
    box.node.settle();
    expect(box.changes('SlotsHeld')).toHaveLength(limits.length * SHARDS.length);
  });

  test('is known to the next owner before it claims anything, and is gone when it is lifted', () => {
    const { box, lines } = setUp();
    const dags = plain(box);
    setLimit(box, tenantLimit(TENANT), 1);
    told(box, tenantLimit(TENANT));
    lines.deliver();
    box.killOwner().lend(box.worker(), 100, true);
    for (let i = 0; i < 3; i++) box.feed(box.submission({ shard: SHARDS[i]!, dagId: dags[i]! }));
    lines.deliver();
    expect(open(box)).toHaveLength(1);
    setLimit(box, tenantLimit(TENANT), null);
    told(box, tenantLimit(TENANT));
    expect(open(box)).toHaveLength(3);
  });
});

test('where no task is under such a limit, nothing is said and nothing stored', () => {
  const { box } = setUp();
  const other = deploy(box, SHARDS[0]!, [task('free')], 'free');
  for (let i = 0; i < 3; i++) box.feed(box.submission({ shard: SHARDS[0]!, dagId: other }));
  for (const attempt of open(box)) box.feed(reportOf(attempt, 'succeeded'));
  expect(box.effects.filter(({ kind }) => kind === 'AskHome' || kind === 'TellSlots')).toEqual([]);
  expect(box.changes('SlotsHeld')).toEqual([]);
});

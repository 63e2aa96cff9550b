/** What a waiting task is said to wait for is the truth: who removes it sees the task start (I75). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Frozen } from '../../model/command.ts';
import type { DagSpec } from '../../model/dag/spec.ts';
import type { QueueName, RunId, TaskNo } from '../../model/ids.ts';
import { CLUSTER_LIMIT, homeOf, type LimitName, poolLimit, tenantLimit } from '../../model/limit.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { SlotLines } from '../../testing/slot-lines.ts';
import { dag, task } from '../../testing/specs.ts';
import type { LaneBlocker } from './blockers.ts';
import { waitOf } from './wait.ts';

const POOL = poolLimit(TENANT, 'database');
const LIMITS = { 'pool:database': POOL, tenant: tenantLimit(TENANT), cluster: CLUSTER_LIMIT } as const;
/** More than all tasks take together. */
const PLENTY = 100;

const few = fc.option(fc.integer({ min: 1, max: 2 }), { nil: null });
const tasks = fc.array(
  fc.record({ poolSlots: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }), maxActive: few, rate: few }),
  { minLength: 1, maxLength: 4 },
);
const frozen = fc.subarray<Omit<Frozen, 'tenantId'>>([
  { kind: 'cluster', name: '' },
  { kind: 'tenant', name: 'acme' },
  { kind: 'dag', name: 'etl' },
  { kind: 'queue', name: 'default' },
]);
const worlds = fc.record({
  tasks,
  frozen: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: frozen }),
  runs: fc.integer({ min: 1, max: 3 }),
  maxActiveTasks: few,
  maxActiveTasksPerRun: few,
  workerSlots: fc.integer({ min: 0, max: 3 }),
  limits: fc.record({ pool: few, tenant: few, cluster: few }),
});
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

function specOf({ tasks: list, maxActiveTasks, maxActiveTasksPerRun }: World): DagSpec {
  const made = list.map(({ poolSlots, maxActive, rate }, no) =>
    task(`t${no}`, [], {
      ...(poolSlots !== null && { pool: { name: 'database', slots: poolSlots } }),
      ...(maxActive !== null && { maxActive }),
      ...(rate !== null && { rate: { limit: rate, perMs: 10_000 } }),
    }),
  );
  return dag(made, { maxActiveTasks, ...(maxActiveTasksPerRun !== null && { maxActiveTasksPerRun }) });
}

class Play {
  readonly box: Scenario;
  readonly lines: SlotLines;

  constructor(world: World) {
    const homes = Object.values(LIMITS).map(homeOf);
    this.box = scenario({ shards: [3, ...homes.filter((home) => home !== 3)], audit: false });
    this.lines = new SlotLines(this.box);
    this.box.dagId = this.box.deploy(specOf(world));
    const { pool, tenant, cluster } = world.limits;
    if (pool !== null) this.setLimit(POOL, pool);
    if (tenant !== null) this.setLimit(LIMITS.tenant, tenant);
    if (cluster !== null) this.setLimit(CLUSTER_LIMIT, cluster);
    if (world.frozen.length > 0) this.freeze(world.frozen);
    this.settle();
    if (world.workerSlots > 0) this.box.lend(this.box.worker(), world.workerSlots, true);
    for (let i = 0; i < world.runs; i++) this.box.submit();
    this.settle();
  }

  /** What shards and homes have to tell each other is told, also what they tell only with time. */
  settle(): void {
    this.lines.deliver();
    this.box.advance('1s').heartbeat();
    this.lines.deliver();
  }

  setLimit(limit: LimitName, slots: number): void {
    const { box } = this;
    box.feed({ kind: 'SetLimit', shard: homeOf(limit), tenantId: TENANT, limit, slots, actor: box.actor });
  }

  freeze(list: readonly Omit<Frozen, 'tenantId'>[]): void {
    this.box.feed({ kind: 'SetFrozen', frozen: list.map((one) => ({ tenantId: TENANT, ...one })) });
  }

  waiting(): { runId: RunId; name: string; blockers: readonly LaneBlocker[] }[] {
    const { box } = this;
    return box.runIds.flatMap((runId) =>
      [0, 1, 2, 3].flatMap((no) => {
        const asked = { tenantId: TENANT, queue: 'default' as QueueName, runId, taskNo: no as TaskNo };
        const { blockers } = waitOf(box.state, { ...asked, priority: 'normal', isOfBackfill: false });
        return blockers === null ? [] : [{ runId, name: `t${no}`, blockers }];
      }),
    );
  }

  blockersOf(name: string, runId: RunId): readonly LaneBlocker[] {
    return this.waiting().find((one) => one.runId === runId && one.name === name)?.blockers ?? [];
  }

  isReady(name: string, runId: RunId): boolean {
    return this.box.task(name, runId).state === 'ready';
  }

  /** As the suggestion for the code says. */
  fix({ code, subject }: LaneBlocker): void {
    const { box } = this;
    if (code === 'frozen') this.freeze([]);
    else if (code === 'pool_full' || code === 'cap_full') {
      const limit = LIMITS[subject as keyof typeof LIMITS];
      expect(limit, subject).toBeDefined();
      this.setLimit(limit, PLENTY);
    } else if (code === 'rate') box.advance('10s').heartbeat();
    else this.endSomething();
    this.settle();
  }

  /** What others hold comes free as they end. */
  private endSomething(): void {
    const { box } = this;
    const ended = new Set(box.changes('AttemptEnded').map(({ runId, fence, taskNo }) => `${runId}/${taskNo}/${fence}`));
    const sent = box.effects.find(
      (effect) =>
        effect.kind === 'SendAssignment' &&
        !ended.has(`${effect.claim.runId}/${effect.claim.taskNo}/${effect.claim.fence}`),
    );
    expect(sent, 'what is full is held by somebody').toBeDefined();
    if (sent?.kind === 'SendAssignment') box.report(box.attemptOf(sent), 'succeeded');
  }
}

test('who does what is suggested, until nothing is, sees the task start', () => {
  fc.assert(
    fc.property(worlds, fc.nat(), (world, choice) => {
      const play = new Play(world);
      const all = play.waiting();
      if (all.length === 0) return;
      const { name, runId } = all[choice % all.length]!;
      // Each fix removes one of a few reasons, or lets one of at most twelve tasks end.
      for (let fixes = 0; play.isReady(name, runId); fixes++) {
        expect(fixes, JSON.stringify(play.waiting())).toBeLessThan(30);
        const [first] = play.blockersOf(name, runId);
        if (first !== undefined) {
          play.fix(first);
          continue;
        }
        play.box.lend(play.box.worker(), PLENTY, true);
        play.settle();
        // One that went first may hold now what it needs; then it says so.
        if (play.isReady(name, runId)) expect(play.blockersOf(name, runId), `what holds ${name}`).not.toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

test('while workers are free, each task that waits says what for', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const play = new Play({ ...world, workerSlots: PLENTY });
      for (const one of play.waiting()) expect(one.blockers, `${one.name} of ${one.runId}`).not.toEqual([]);
    }),
    { numRuns: 200 },
  );
});

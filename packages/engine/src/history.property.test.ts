import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from './apply/apply.ts';
import { NOTHING_NEAR } from './apply/restore.ts';
import type { Command } from './model/command.ts';
import { PRIORITIES } from './model/dag/spec.ts';
import { HOLDS_CLAIM } from './model/task/task-states.ts';
import { describeShard } from './tables/describe.ts';
import { ENDED } from './tables/run/run-table.ts';
import { State } from './tables/state.ts';
import { forEachSlot } from './tables/task/task-slots.ts';
import { type Attempt, type Scenario, scenario } from './testing/scenario.ts';
import { dag, every, type Span, task } from './testing/specs.ts';

const REPORTED = ['succeeded', 'transient', 'permanent', 'timeout', 'cancelled', 'resource', 'stuck'] as const;
const retry = { maxAttempts: 3, minMs: 0, baseMs: 2_000, maxMs: 4_000, maxLost: 2 };

/** One of a handful of dags, by number. */
function specOf(n: number) {
  const tasks = [
    task('a', [], { retry, timeoutMs: 20_000 }),
    task('b', [], { retry, queue: n % 2 === 0 ? 'default' : 'other' }),
    task('c', [0, 1], { retry }),
    task('d', [0]),
  ].slice(0, 1 + (n % 4));
  return dag(tasks, {
    priority: PRIORITIES[n % 4]!,
    maxActiveRuns: n % 3 === 0 ? 2 : null,
    maxActiveTasks: n % 5 === 0 ? 2 : null,
    schedule: n % 4 === 1 ? every('*/20 * * * * *', { missed: 'all', missedLimit: 3 }) : null,
  });
}

const moves: Record<string, (box: Scenario, n: number) => unknown> = {
  submit: (box, n) => box.submit({ count: 1 + (n % 3), priority: PRIORITIES[n % 4]! }),
  deploy: (box, n) => box.deploy(specOf(n)),
  claim: (box, n) => box.tryClaim(workerOf(box, n)),
  lend: (box, n) => box.lend(workerOf(box, n), n % 4, n % 2 === 0),
  report: (box, n) => heldBy(box, n, (attempt) => box.report(attempt, REPORTED[n % REPORTED.length]!)),
  succeed: (box, n) => heldBy(box, n, (attempt) => box.report(attempt, 'succeeded')),
  refuse: (box, n) => heldBy(box, n, (attempt) => box.refuse(attempt)),
  forget: (box, n) => heldBy(box, n, ({ worker, claim }) => worker.drop(claim)),
  beat: (box, n) => box.heartbeat(workerOf(box, n), { knows: n % 3 > 0, agoMs: n % 500 }),
  leave: (box, n) => box.leave(workerOf(box, n)),
  deafen: (box, n) => void (workerOf(box, n).isDeaf = n % 2 === 0),
  gateway: (box, n) => box.feed({ kind: 'GatewayLost', gateway: workerOf(box, n).gateway }),
  cancel: (box, n) => onRun(box, n, (runId) => box.cancel(runId)),
  strike: (box, n) => onRun(box, n, (runId) => box.strike(runId, n % 5 === 0)),
  pause: (box, n) => box.pause(n % 2 === 0),
  wait: (box, n) => box.advance(`${1 + (n % 20)}s` as Span),
  leap: (box, n) => box.leap(`${(n % 3) - 1}h` as Span),
  kill: (box) => box.killOwner(),
  hold: (box) => box.hold(),
  settle: (box) => box.settle(),
};

const scripts = fc.array(fc.tuple(fc.constantFrom(...Object.keys(moves)), fc.nat({ max: 1_000 })), {
  minLength: 5,
  maxLength: 100,
  size: 'max',
});

function workerOf(box: Scenario, n: number) {
  return [...box.workers.values()][n % box.workers.size]!;
}

function heldBy(box: Scenario, n: number, act: (attempt: Attempt) => unknown): void {
  const worker = workerOf(box, n);
  const claim = worker.holds[n % Math.max(1, worker.holds.length)];
  if (claim !== undefined) act({ claim, worker, task: '' });
}

function onRun(box: Scenario, n: number, act: (runId: Scenario['runIds'][number]) => unknown): void {
  const runId = box.runIds[n % Math.max(1, box.runIds.length)];
  if (runId !== undefined) act(runId);
}

function replayed(box: Scenario): State {
  const state = new State(box.node.settings);
  state.isReplay = true;
  for (const shard of box.node.shards) {
    const { epoch } = box.state.shards.get(shard)!;
    state.shards.set(shard, {
      shard,
      epoch,
      commitNo: 0,
      lastRunId: 0 as never,
      lastDagNo: 0,
      missedUntil: 0 as never,
      ...NOTHING_NEAR,
    });
  }
  for (const change of box.node.journal) apply(state, change);
  return state;
}

/** Tasks of live runs that hold a claim: each has one row in the attempt table, and no other row is there (I73). */
function heldClaims(state: State): number {
  let held = 0;
  for (const run of state.runs.rows()) {
    forEachSlot(state, run, (slot) => {
      if (state.runs.phase[run] !== ENDED) held += HOLDS_CLAIM[state.tasks.state[slot]!]!;
    });
  }
  return held;
}

test('state equals history: live, restored from rows at each commit, and replayed from the journal (I19)', () => {
  fc.assert(
    fc.property(scripts, fc.nat(), (script, seed) => {
      // The scenario itself compares what is live with what a load would give, after each commit.
      const box = scenario({ dag: specOf(7), workers: { w1: ['default', 'other'], w2: ['default'] }, seed });
      for (const [move, n] of script) moves[move]!(box, n);
      box.settle();
      const { nearUntil } = box.state.shards.get(box.shard)!;
      expect(describeShard(replayed(box), box.shard, nearUntil)).toEqual(
        describeShard(box.state, box.shard, nearUntil),
      );
      expect(box.state.attempts.count).toBe(heldClaims(box.state));
    }),
    { numRuns: 120 },
  );
});

test('the same commands at the same times, with the same chance, give the same changes and effects (D1)', () => {
  fc.assert(
    fc.property(scripts, fc.nat(), (script, seed) => {
      const play = () => {
        const box = scenario({
          dag: specOf(7),
          workers: { w1: ['default', 'other'], w2: ['default'] },
          seed,
          audit: false,
        });
        for (const [move, n] of script) moves[move]!(box, n);
        const told = box.effects.map((effect) =>
          JSON.stringify(effect, (key, value) => (key === 'version' ? value.no : value)),
        );
        return { journal: box.node.journal, told };
      };
      expect(play()).toEqual(play());
    }),
    { numRuns: 60 },
  );
});

test('whatever happened, with workers that answer everything is finished in the end (I72)', () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const box = scenario({
        dag: specOf(6),
        workers: { w1: ['default', 'other'], w2: ['default', 'other'] },
        audit: false,
      });
      for (const [move, n] of script) moves[move]!(box, n);
      box.settle();
      // No new work: the schedule stops, then everybody is heard and works.
      box.deploy(dag([task('z')]));
      for (const worker of box.workers.values()) worker.isDeaf = false;
      for (let round = 0; round < 400 && box.state.runs.count > 0; round++) {
        for (const worker of box.workers.values()) {
          box.heartbeat(worker);
          for (const claim of worker.holds) box.report({ claim, worker, task: '' }, 'succeeded');
          box.tryClaim(worker);
        }
        box.advance('2s');
      }
      box.node.decide([]);
      expect(box.state.runs.count).toBe(0);
      expect([...box.state.dags.byId.values()].every((d) => d.runningTasks === 0 && d.activeRuns === 0)).toBe(true);
      expect(box.node.store.runsStored().every((run) => run.phase === 'ended' || run.setAside)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('what an engine is told never makes it throw: claims of any kind, for runs that are not there (I57)', () => {
  const claims = fc.record({
    runId: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 ** 50 })),
    taskNo: fc.nat({ max: 5 }),
    attemptNo: fc.nat({ max: 3 }),
    fence: fc.nat({ max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(claims, { maxLength: 10 }), fc.boolean(), (made, isLive) => {
      const box = scenario({ dag: specOf(2), shards: [7, 8] });
      const { claim, worker } = box.tryClaim()!;
      const { gateway, id: workerId } = worker;
      const holds = made.map((one) => ({ ...one, runId: isLive ? claim.runId : one.runId })) as (typeof claim)[];
      const commands: Command[] = [{ kind: 'WorkerHeard', gateway, workerId, agoMs: 0, holds, knows: [] }];
      for (const one of holds) commands.push({ kind: 'RefuseClaim', claim: one, workerId });
      box.node.decide(commands);
      const isOurs = holds.some(
        (one) => one.taskNo === claim.taskNo && one.fence === claim.fence && one.runId === claim.runId,
      );
      expect(box.task('a').state).toBe(isOurs ? 'ready' : 'running');
    }),
    { numRuns: 60 },
  );
});

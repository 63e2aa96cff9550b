import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Touched } from '../../model/answer.ts';
import { Graph } from '../../model/dag/graph.ts';
import type { DagSpec, TaskSpec } from '../../model/dag/spec.ts';
import { MARKS } from '../../model/task/outcome.ts';
import { TRIGGER_RULES } from '../../model/task/trigger.ts';
import { deriveTaskStates } from '../../propagate/derive.ts';
import { type NaiveEnd, naiveStates } from '../../testing/naive-states.ts';
import { type Attempt, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const MOST = 7;
const rules = fc.oneof(
  { weight: 3, arbitrary: fc.constant('all_success' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...TRIGGER_RULES) },
);
const specs: fc.Arbitrary<DagSpec> = fc.integer({ min: 2, max: MOST }).chain((count) =>
  fc
    .tuple(
      fc.tuple(
        ...Array.from({ length: count }, (_, no) =>
          fc.record({ needs: fc.subarray(Array.from({ length: no }, (_, up) => up)), rule: rules }),
        ),
      ),
      fc.constantFrom('continue' as const, 'skip_failed' as const),
      fc.boolean(),
    )
    .map(([tasks, onFailure, isPlain]) => {
      const made = tasks.map(({ needs, rule }, no): TaskSpec => task(`t${no}`, needs, isPlain ? {} : { rule }));
      return dag(made, isPlain ? {} : { onFailure });
    }),
);

const MOVES = ['claim', 'claim', 'succeed', 'succeed', 'fail', 'clear', 'clear', 'mark', 'pause', 'kill'] as const;
const scripts = fc.array(fc.tuple(fc.constantFrom(...MOVES), fc.nat(10_000)), {
  minLength: 10,
  maxLength: 60,
  size: 'max',
});

/** What is there by the plainest reading: what each task that has a state of its own has come to, and which are paused. */
class Model {
  readonly ended = new Map<number, NaiveEnd>();
  readonly held = new Set<number>();
  readonly spec: DagSpec;
  constructor(spec: DagSpec) {
    this.spec = spec;
  }

  states(): string[] {
    return naiveStates(this.spec, this.ended);
  }

  /** The chosen ones and all that depends on them, by looking again and again until nothing is added. */
  chosen(tasks: readonly number[], states: readonly string[] | null, how: { downstream: boolean; upstream: boolean }) {
    const now = this.states();
    const first = tasks.filter((no) => states === null || states.includes(now[no]!));
    const grow = (joins: (no: number, seen: ReadonlySet<number>) => boolean) => {
      const seen = new Set(first);
      for (let size = -1; size !== seen.size; ) {
        size = seen.size;
        this.spec.tasks.forEach((_, no) => joins(no, seen) && seen.add(no));
      }
      return seen;
    };
    const below = grow((no, seen) => this.spec.tasks[no]!.needs.some((up) => seen.has(up)));
    const above = grow((no, seen) => [...seen].some((one) => this.spec.tasks[one]!.needs.includes(no)));
    return new Set([...first, ...(how.downstream ? below : []), ...(how.upstream ? above : [])]);
  }
}

function play(spec: DagSpec, script: readonly (readonly [(typeof MOVES)[number], number])[]): void {
  const box = scenario({ dag: spec, settings: { leaseMs: 1_000_000 } });
  const model = new Model(spec);
  let running: Attempt[] = [];
  const count = spec.tasks.length;
  const dryThenReal = (action: (dryRun: boolean) => object): Touched | null => {
    const dry = action(true) as Touched;
    const real = action(false) as Touched;
    expect(dry.ok ? { ...dry, dryRun: false } : dry).toEqual(real);
    return real.ok ? real : null;
  };
  for (const [move, n] of script) {
    const no = n % count;
    if (move === 'claim') {
      const attempt = box.tryClaim();
      if (attempt !== null) {
        expect(model.held.has(attempt.claim.taskNo) || model.held.has(-1)).toBe(false);
        expect(model.states()[attempt.claim.taskNo]).toBe('ready');
        running.push(attempt);
        model.ended.set(attempt.claim.taskNo, { state: 'open', output: null });
      }
    } else if (move === 'succeed' || move === 'fail') {
      const attempt = running[n % Math.max(1, running.length)];
      if (attempt !== undefined) {
        running = running.filter((one) => one !== attempt);
        box.report(attempt, move === 'succeed' ? 'succeeded' : 'permanent');
        model.ended.set(attempt.claim.taskNo, { state: move === 'succeed' ? 'succeeded' : 'failed', output: null });
      }
    } else if (move === 'clear') {
      const tasks = n % 3 === 0 ? [...spec.tasks.keys()] : [no, (n >> 3) % count];
      const states = ([null, ['failed'], ['succeeded', 'skipped']] as const)[n % 3]!;
      const how = { downstream: n % 2 === 0, upstream: n % 5 === 0 };
      const chosen = model.chosen(tasks, states, how);
      const isOwn = (one: number) => model.ended.has(one) && model.ended.get(one)?.state !== 'open';
      const stopped = running.filter(({ claim }) => chosen.has(claim.taskNo));
      const before = box.changes('TaskCleared').length;
      const force = n % 4 === 0;
      const names = [...new Set(tasks)].map((one) => `t${one}`);
      const touched = dryThenReal((dryRun) => box.clear(names, { ...(states && { states }), ...how, force, dryRun }));
      expect(touched === null).toBe(stopped.length > 0 && !force);
      if (touched !== null) {
        const wanted = [...chosen].filter((one) => isOwn(one) || stopped.some(({ claim }) => claim.taskNo === one));
        const cleared = box
          .changes('TaskCleared')
          .slice(before)
          .map(({ taskNo }) => taskNo as number);
        expect(cleared).toEqual(wanted.sort((a, b) => a - b));
        for (const one of wanted) model.ended.delete(one);
        running = running.filter((one) => !stopped.includes(one));
        for (const { claim, worker } of stopped) worker.drop(claim);
      }
    } else if (move === 'mark') {
      const as = MARKS[n % MARKS.length]!;
      const isRunning = running.some(({ claim }) => claim.taskNo === no);
      const force = n % 3 === 0;
      const touched = dryThenReal((dryRun) => box.mark(`t${no}`, as, { force, dryRun }));
      const isOver = !['blocked', 'ready', 'open', 'cancelled'].includes(model.states()[no]!);
      expect(touched === null).toBe((isRunning && !force && as !== 'cancelled') || (as === 'cancelled' && isOver));
      if (touched !== null) {
        for (const { claim, worker } of running) if (claim.taskNo === no) worker.drop(claim);
        running = running.filter(({ claim }) => claim.taskNo !== no);
        model.ended.set(no, { state: as, output: null });
      }
    } else if (move === 'pause') {
      const held = n % 4 === 0 ? -1 : no;
      const paused = !model.held.has(held);
      const answer = box.setPaused(held < 0 ? null : `t${no}`, paused);
      if (answer.ok && paused) model.held.add(held);
      else if (answer.ok) model.held.delete(held);
    } else box.killOwner();
    compare(box, model);
  }
}

/** The states as a reader sees them. That memory is what a load would give is seen to by the scenario, after each commit (I19). */
function compare(box: Scenario, model: Model): void {
  const stored = box.node.store.runsStored()[0]!;
  const states = deriveTaskStates(new Graph(model.spec), stored.tasks, stored);
  expect(states.map((state) => (state === 'running' ? 'open' : state))).toEqual(model.states());
}

test('any hands on any dag at any moment: what is chosen is touched, and what depends on it, and nothing else (I32, I37, I19)', () => {
  fc.assert(fc.property(specs, scripts, play), { numRuns: 150 });
});

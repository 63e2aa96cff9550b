import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Graph } from '../../model/dag/graph.ts';
import { type DagSpec, FAILURE_POLICIES, type TaskSpec } from '../../model/dag/spec.ts';
import { deriveTaskStates } from '../../propagate/derive.ts';
import { allBehind, isClosing, naiveClosing } from '../../testing/naive-closing.ts';
import { type Attempt, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const MOST = 5;
const SLOW_MS = 1_000;
const HOOKS = ['before', 'after', 'success', 'failure', 'slow'] as const;

/** What happens next: an attempt ends, the run is cancelled, with force perhaps, or its owner is killed. */
type Event = {
  readonly pick: number;
  readonly what: 'succeeded' | 'permanent' | 'returned' | 'cancel' | 'force' | 'kill' | 'wait';
};

interface Case {
  readonly spec: DagSpec;
  readonly events: readonly Event[];
}

const specs = fc.integer({ min: 1, max: MOST }).chain((count) => {
  const numbers = Array.from({ length: count }, (_, no) => no);
  return fc
    .record({
      tasks: fc.tuple(
        ...numbers.map((no) =>
          fc.record({
            needs: fc.subarray(numbers.slice(0, no)),
            rule: fc.constantFrom('all_success', 'all_success', 'all_done', 'one_failed', 'none_failed'),
            hasUndo: fc.boolean(),
            hooks: fc.subarray([...HOOKS], { maxLength: 2 }),
          }),
        ),
      ),
      teardowns: fc.array(fc.record({ setups: fc.subarray(numbers), more: fc.subarray(numbers) }), { maxLength: 2 }),
      runHooks: fc.subarray([...HOOKS, 'retry' as const], { maxLength: 3 }),
      onFailure: fc.constantFrom(...FAILURE_POLICIES),
    })
    .map(({ tasks, teardowns, runHooks, onFailure }): DagSpec => {
      const own = tasks.map(({ needs, rule }, no) =>
        task(`t${no}`, needs, { rule: rule as 'all_success', softTimeoutMs: SLOW_MS }),
      );
      const down = teardowns.flatMap(({ setups, more }, no): TaskSpec[] => {
        const needs = [...new Set([...setups, ...more])].sort((a, b) => a - b);
        return needs.length === 0 ? [] : [task(`d${no}`, needs, { teardown: setups })];
      });
      const undos = tasks.flatMap(({ hasUndo }, no) => (hasUndo ? [task(`t${no}:undo`, [], { undoes: no })] : []));
      const hooks = tasks.flatMap((each, of) => each.hooks.map((on) => task(`t${of}:${on}`, [], { hook: { of, on } })));
      const ofRun = runHooks.map((on) => task(`run:${on}`, [], { hook: { of: null, on } }));
      return dag([...own, ...down, ...undos, ...hooks, ...ofRun], {
        onFailure,
        compensate: true,
        softTimeoutMs: 2 * SLOW_MS,
      });
    });
});

const events = fc.record({
  pick: fc.nat(),
  what: fc.oneof(
    { weight: 12, arbitrary: fc.constant('succeeded' as const) },
    { weight: 4, arbitrary: fc.constant('permanent' as const) },
    { weight: 2, arbitrary: fc.constant('wait' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('returned' as const, 'cancel' as const, 'force' as const, 'kill' as const),
    },
  ),
});

const cases: fc.Arbitrary<Case> = fc.record({
  spec: specs,
  events: fc.array(events, { minLength: 40, maxLength: 40 }),
});

function storedOf(box: Scenario) {
  return box.node.store.runsStored()[0]!;
}

/** Each step is audited by the scenario: what is live is what a load would give. */
function play({ spec, events: all }: Case, onStep: (box: Scenario) => void): Scenario {
  const box = scenario({ dag: spec, settings: { graceMs: 0, leaseMs: 1_000_000 } });
  let running: Attempt[] = [];
  onStep(box);
  for (const { pick, what } of all) {
    if (box.run().phase === 'ended') break;
    for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) running.push(next);
    const attempt = running[pick % Math.max(1, running.length)];
    if (what === 'cancel') box.cancel();
    else if (what === 'force') box.force();
    else if (what === 'kill') box.killOwner();
    else if (what === 'wait') box.advance('1.5s');
    else if (attempt !== undefined) {
      running = running.filter((other) => other !== attempt);
      if (what === 'returned') box.refuse(attempt);
      else box.report(attempt, what);
    }
    onStep(box);
  }
  for (let round = 0; box.run().phase !== 'ended'; round++) {
    expect(round).toBeLessThan(200);
    for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) running.push(next);
    for (const attempt of running.splice(0)) box.report(attempt, 'succeeded');
    onStep(box);
  }
  return box;
}

function agreesWithNaive(box: Scenario, spec: DagSpec): void {
  const stored = storedOf(box);
  const states = deriveTaskStates(new Graph(spec), stored.tasks, stored);
  const begun = new Set<number>(stored.tasks.flatMap(({ taskNo, state }) => (state === 'cleared' ? [] : [taskNo])));
  const isTried = ({ attemptNo, state }: (typeof stored.tasks)[number]) => attemptNo > (state === 'returned' ? 1 : 0);
  const tried = new Set([...begun].filter((no) => stored.tasks.some((row) => row.taskNo === no && isTried(row))));
  const { phase, outcome, isForced } = stored;
  /** As the journal has it, change by change. */
  const times = (on: 'retry' | 'slow', of: number | null) =>
    box.node.journal.filter((change) => {
      if (of !== null) return change.kind === 'TaskSlow' && change.taskNo === of;
      return on === 'slow' ? change.kind === 'RunSlow' : change.kind === 'RunReopened' && change.asClosing !== true;
    }).length;
  expect(states).toEqual(naiveClosing(spec, states, { phase, outcome, isForced, begun, tried, times }));
  if (phase !== 'ended' || isForced) return;
  spec.tasks.forEach(({ name, hook }, no) => {
    if (hook?.on !== 'slow' && hook?.on !== 'retry') return;
    const cleared = box
      .changes('TaskCleared')
      .filter(({ taskNo, actor }) => taskNo === no && actor === 'system').length;
    const fired = begun.has(no) ? cleared + 1 : 0;
    expect([name, fired]).toEqual([name, times(hook.on, hook.of)]);
  });
}

test('any dag closes as a rescan of everything says, at each moment, whatever fails and whenever it is cancelled (I33, I42, I19)', () => {
  fc.assert(
    fc.property(cases, (one) => {
      play(one, (box) => agreesWithNaive(box, one.spec));
    }),
    { numRuns: 400 },
  );
});

test('what was done is undone once, in reverse order; teardowns run if, and only if, a setup succeeded; nothing ordinary begins late', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { spec } = one;
      const box = play(one, () => undefined);
      const stored = storedOf(box);
      const stateOf = (no: number) => stored.tasks.find(({ taskNo }) => taskNo === no)?.state;
      const at = new Map<string, number>();
      box.node.journal.forEach((change, when) => {
        if (change.kind === 'AttemptClaimed') at.set(`claim/${change.taskNo}`, when);
        if (change.kind === 'AttemptEnded') at.set(`end/${change.taskNo}`, when);
        if (change.kind === 'RunClosing') at.set('closing', when);
      });
      spec.tasks.forEach((each, no) => {
        const begunAt = at.get(`claim/${no}`);
        if (!isClosing(each) && begunAt !== undefined) expect(begunAt).toBeLessThan(at.get('closing')!);
        if (stored.isForced) return;
        const { teardown, undoes } = each;
        if (teardown !== undefined) {
          const isWanted = teardown.length === 0 || teardown.some((setup) => stateOf(setup) === 'succeeded');
          expect(begunAt !== undefined).toBe(isWanted);
        }
        if (undoes === undefined) return;
        expect(begunAt !== undefined).toBe(stored.outcome !== 'succeeded' && stateOf(undoes) === 'succeeded');
        for (const behind of allBehind(spec, undoes)) {
          const other = spec.tasks.findIndex((task_) => task_.undoes === behind);
          const endedAt = at.get(`end/${other}`);
          if (begunAt !== undefined && endedAt !== undefined) expect(endedAt).toBeLessThan(begunAt);
        }
      });
    }),
    { numRuns: 400 },
  );
});

test('what is tried again by hand closes its run once more as a load would have it (I19, I32)', () => {
  fc.assert(
    fc.property(
      cases,
      fc.array(fc.record({ pick: fc.nat(), fails: fc.boolean() }), { maxLength: 6 }),
      (one, actions) => {
        const { spec } = one;
        const box = play(one, () => undefined);
        for (const { pick, fails } of actions) {
          box.retry(spec.tasks[pick % spec.tasks.length]!.name);
          agreesWithNaive(box, spec);
          const attempt = box.tryClaim();
          if (attempt === null) continue;
          box.report(attempt, fails ? 'permanent' : 'succeeded');
          agreesWithNaive(box, spec);
        }
        for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) box.report(next, 'succeeded');
        expect(box.run().phase).toBe('ended');
      },
    ),
    { numRuns: 300 },
  );
});

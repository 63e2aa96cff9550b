import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expression } from '../model/dag/expression.ts';
import { Graph } from '../model/dag/graph.ts';
import { type DagSpec, FAILURE_POLICIES, type TaskSpec } from '../model/dag/spec.ts';
import { TRIGGER_RULES } from '../model/task/trigger.ts';
import { type NaiveEnd, naiveStates } from '../testing/naive-states.ts';
import { type Attempt, type Scenario, scenario } from '../testing/scenario.ts';
import { dag, task } from '../testing/specs.ts';
import { deriveTaskStates } from './derive.ts';

/** What a task's attempt comes to: a failure, or an output by which conditions, branches and short circuits go. */
type Ending = { readonly fails: true } | { readonly fails: false; readonly n: number; readonly pass: boolean };

const endings = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Ending>({ fails: true }) },
  { weight: 3, arbitrary: fc.record({ fails: fc.constant(false as const), n: fc.nat(3), pass: fc.boolean() }) },
);

const rules = fc.oneof(
  { weight: 2, arbitrary: fc.constant('all_success' as const) },
  { weight: 3, arbitrary: fc.constantFrom(...TRIGGER_RULES) },
);

/** Looks at the field `n` of a task upstream, and is at fault for a text now and then. */
const conditionOf = (up: number, kind: number): Expression =>
  kind === 0
    ? { op: 'lt', left: { op: 'task', task: up, fact: 0 }, right: { op: 'value', value: 2 } }
    : { op: 'ne', left: { op: 'task', task: up, fact: 0 }, right: { op: 'value', value: kind } };

interface Case {
  readonly spec: DagSpec;
  readonly endings: readonly Ending[];
  readonly picks: readonly number[];
}

const MOST = 9;
const cases: fc.Arbitrary<Case> = fc.integer({ min: 2, max: MOST }).chain((count) =>
  fc
    .record({
      tasks: fc.tuple(
        ...Array.from({ length: count }, (_, no) =>
          fc.record({
            needs: fc.subarray(Array.from({ length: no }, (_, up) => up)),
            rule: rules,
            kind: fc.constantFrom('plain', 'plain', 'plain', 'branch', 'next', 'all', 'setup'),
            when: fc.option(fc.nat(2), { freq: 3 }),
          }),
        ),
      ),
      onFailure: fc.constantFrom(...FAILURE_POLICIES),
      endings: fc.array(endings, { minLength: count, maxLength: count }),
      picks: fc.array(fc.nat(), { minLength: 4 * MOST, maxLength: 4 * MOST }),
    })
    .map(({ tasks, onFailure, ...rest }) => {
      const specs = tasks.map(({ needs, rule, kind, when }, no): TaskSpec => {
        const up = needs[0];
        const hasCondition = when !== null && up !== undefined;
        return task(`t${no}`, needs, {
          rule,
          facts: [['n']],
          ...(hasCondition ? { when: { text: '…', expression: conditionOf(up, when) } } : {}),
          ...(kind === 'branch' ? { branch: true } : {}),
          ...(kind === 'next' || kind === 'all' ? { shortCircuit: kind } : {}),
          ...(kind === 'setup' ? { setup: true } : {}),
        });
      });
      return { spec: dag(specs, { onFailure }), ...rest };
    }),
);

/** A branch returns names, and has no field that a condition could see; a short circuit that stops returns an empty object. */
function outputOf(spec: DagSpec, no: number, ending: Extract<Ending, { fails: false }>): unknown {
  const { branch, shortCircuit } = spec.tasks[no]!;
  if (branch) {
    const below = spec.tasks.filter(({ needs }) => needs.includes(no)).map(({ name }) => name);
    return below.filter((_, i) => (ending.n >> (i % 2)) % 2 === 0);
  }
  if (shortCircuit !== undefined && !ending.pass) return null;
  return { n: ending.n };
}

function endOf(spec: DagSpec, no: number, ending: Ending): NaiveEnd {
  return ending.fails ? { state: 'failed', output: null } : { state: 'succeeded', output: outputOf(spec, no, ending) };
}

const isOver = (box: Scenario) => box.run().phase !== 'open';

/** Plays a run with all ready tasks running at once, one of them ending at a time; tells after each end. */
function play({ spec, endings, picks }: Case, onStep: (box: Scenario, ended: ReadonlyMap<number, NaiveEnd>) => void) {
  const box = scenario({ dag: spec, settings: { graceMs: 0, leaseMs: 1_000_000 } });
  const ended = new Map<number, NaiveEnd>();
  let running: Attempt[] = [];
  onStep(box, ended);
  for (const pick of picks) {
    if (isOver(box)) break;
    for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) running.push(next);
    const attempt = running[pick % Math.max(1, running.length)];
    if (attempt === undefined) break;
    running = running.filter((other) => other !== attempt);
    const no = attempt.claim.taskNo;
    const end = endOf(spec, no, endings[no]!);
    ended.set(no, end);
    box.report(attempt, end.state === 'failed' ? 'permanent' : 'succeeded', { output: JSON.stringify(end.output) });
    if (pick % 5 === 0) box.killOwner();
    onStep(box, ended);
  }
  for (const attempt of running) box.report(attempt, 'cancelled');
  return { box, ended };
}

function statesOf(box: Scenario, spec: DagSpec): string[] {
  const stored = box.node.store.runsStored()[0]!;
  return deriveTaskStates(new Graph(spec), stored.tasks, stored).map((state) =>
    state === 'running' ? 'ready' : state,
  );
}

// Some 30 s of work for the three: at a load of 15 one of them took three minutes.
describe('any dag with any rules, conditions, branches, short circuits and policies', { timeout: 600_000 }, () => {
  test('is decided as a rescan of everything would, after each end and after each takeover (I30, I19)', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const { spec } = one;
        const { box, ended } = play(one, (playing, so) => {
          if (!isOver(playing)) expect(statesOf(playing, spec)).toEqual(naiveStates(spec, so));
        });
        const { phase, outcome } = box.run();
        expect(phase).toBe('ended');
        const final = naiveStates(spec, ended);
        const isLeaf = (no: number) => spec.tasks.every(({ needs }) => !needs.includes(no));
        const decides = (no: number) => spec.onFailure !== 'continue' || isLeaf(no);
        const hasFailed = final.some((state, no) => decides(no) && (state === 'failed' || state === 'upstream_failed'));
        expect(outcome).toBe(hasFailed ? 'failed' : 'succeeded');
        if (spec.onFailure !== 'fail_fast') expect(statesOf(box, spec)).toEqual(final);
      }),
      { numRuns: 500 },
    );
  });

  test('comes out the same for each order of arrival (I31)', () => {
    const picks = fc.array(fc.nat(), { minLength: 4 * MOST, maxLength: 4 * MOST });
    fc.assert(
      fc.property(cases, picks, (one, others) => {
        if (one.spec.onFailure === 'fail_fast') return;
        const [a, b] = [one, { ...one, picks: others }].map((each) => {
          const { box } = play(each, () => undefined);
          return [box.run().outcome, statesOf(box, one.spec)];
        });
        expect(a).toEqual(b);
      }),
      { numRuns: 250 },
    );
  });

  test('what was cleared by hand is decided anew as a load would decide it (I19, I32)', () => {
    fc.assert(
      fc.property(cases, fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), (one, clears) => {
        const { spec } = one;
        const { box } = play(one, () => undefined);
        for (const clear of clears) {
          // Each feed is audited: what is in memory is what a load makes of the rows.
          box.retry(`t${clear % spec.tasks.length}`);
          const attempt = box.tryClaim();
          if (attempt === null) continue;
          const ending = one.endings[(clear + attempt.claim.taskNo) % spec.tasks.length]!;
          const end = endOf(spec, attempt.claim.taskNo, ending);
          box.report(attempt, end.state === 'failed' ? 'permanent' : 'succeeded', {
            output: JSON.stringify(end.output),
          });
        }
        for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) box.report(next, 'permanent');
        expect(box.run().phase).toBe('ended');
      }),
      { numRuns: 500 },
    );
  });
});

import { describe, expect, test } from 'vitest';
import { Graph } from '../model/dag/graph.ts';
import type { Condition, DagSpec } from '../model/dag/spec.ts';
import { MAX_FACT_BYTES } from '../model/task/facts.ts';
import { TRIGGER_RULES } from '../model/task/trigger.ts';
import { accepted, reportOf, type Scenario, scenario } from '../testing/scenario.ts';
import { dag, task } from '../testing/specs.ts';
import { deriveFaults, deriveTaskStates } from './derive.ts';

const states = (box: Scenario, ...names: string[]) => names.map((name) => box.task(name).state);
const stored = (box: Scenario) => box.node.store.runsStored().at(-1)!;
const end = (box: Scenario, name: string, output: unknown = null) =>
  box.report(box.claim(name), 'succeeded', { output: JSON.stringify(output) });

const over = (taskNo: number): Condition => ({
  text: 'tasks.a.output.n > 1',
  expression: { op: 'gt', left: { op: 'task', task: taskNo, fact: 0 }, right: { op: 'value', value: 1 } },
});

describe('a condition', () => {
  const spec = dag([task('a', [], { facts: [['n']] }), task('b', [0], { when: over(0) }), task('c', [1])]);

  test.each([
    [{ n: 2 }, ['ready', 'blocked']],
    [{ n: 1 }, ['skipped', 'skipped']],
    [{ n: '2' }, ['failed', 'upstream_failed']],
    [null, ['failed', 'upstream_failed']],
  ])('over the output %j makes those behind it %j', (output, wanted) => {
    const box = scenario({ dag: spec });
    const attempt = box.claim('a');
    box.hold().report(attempt, 'succeeded', { output: JSON.stringify(output) });
    expect(states(box, 'b', 'c')).toEqual(wanted);
  });

  test('without an answer fails the task for good, and says why; there is nothing to try again', () => {
    const box = scenario({ dag: spec });
    end(box, 'a', { n: 'many' });
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    const { tasks, ...run } = stored(box);
    expect([...deriveFaults(new Graph(spec), tasks, run)]).toEqual([
      [
        1,
        "The condition tasks.a.output.n > 1 can't be answered: text > number has no answer: only two numbers or two texts have an order.",
      ],
    ]);
    expect(box.retry('b')).toMatchObject({ code: 'TASK_NOT_RETRYABLE' });
  });

  test('over params is decided when the run is created, and after a load alike (I19)', () => {
    const when: Condition = {
      text: "params.mode == 'full'",
      expression: { op: 'eq', left: { op: 'params', fact: 0 }, right: { op: 'value', value: 'full' } },
    };
    const box = scenario({ dag: dag([task('a', [], { when }), task('b')], { paramFacts: [['mode']] }), runs: 0 });
    box.submit({ items: [{ params: '{"mode":"full"}', priority: null }] });
    expect(states(box, 'a', 'b')).toEqual(['ready', 'ready']);
    box.submit({ items: [{ params: '{"mode":"quick"}', priority: null }] });
    expect(states(box, 'a', 'b')).toEqual(['skipped', 'ready']);
    box.killOwner();
    expect(states(box, 'a', 'b')).toEqual(['skipped', 'ready']);
    expect(box.changes('RunCreated').map(({ facts }) => facts)).toEqual(['[{"v":"full"}]', '[{"v":"quick"}]']);
  });

  test('waits for what it looks at, however early its rule is decided (I31)', () => {
    const box = scenario({
      dag: dag([
        task('a', [], { facts: [['n']] }),
        task('b'),
        task('c', [0, 1], { rule: 'one_success', when: over(0) }),
      ]),
    });
    const [a, b] = [box.claim('a'), box.claim('b')];
    box.report(b, 'succeeded');
    expect(states(box, 'c')).toEqual(['blocked']);
    box.report(a, 'succeeded', { output: '{"n":5}' });
    expect(states(box, 'c')).toEqual(['ready']);
  });

  test('is given no more than a kilobyte of a value: of what is larger, its kind and length', () => {
    const list = Array.from({ length: MAX_FACT_BYTES }, (_, i) => i);
    const box = scenario({ dag: spec });
    end(box, 'a', { n: list });
    expect(box.changes('AttemptEnded')[0]?.facts).toBe(`{"values":[{"of":"list","length":${list.length}}]}`);
  });
});

describe('a branch', () => {
  const spec = dag([
    task('choose', [], { branch: true }),
    task('left', [0]),
    task('right', [0]),
    task('join', [1, 2], { rule: 'none_failed_min_one_success' }),
  ]);

  test.each([
    ['left', ['ready', 'skipped', 'blocked']],
    [
      ['left', 'right'],
      ['ready', 'ready', 'blocked'],
    ],
    [[], ['skipped', 'skipped', 'skipped']],
    [null, ['skipped', 'skipped', 'skipped']],
  ])('that returns %j makes its ways %j', (output, wanted) => {
    const box = scenario({ dag: spec });
    const attempt = box.claim('choose');
    box.hold().report(attempt, 'succeeded', { output: JSON.stringify(output) });
    expect(states(box, 'left', 'right', 'join')).toEqual(wanted);
  });

  test('joins again where a rule says so', () => {
    const box = scenario({ dag: spec });
    end(box, 'choose', 'right');
    end(box, 'right');
    end(box, 'join');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test.each([['join'], ['nobody'], [3], [['left', {}]]])(
    'that returns %j fails for good, and says what it may choose',
    (output) => {
      const box = scenario({ dag: spec });
      const attempt = box.claim('choose');
      const report = { output: JSON.stringify(output) };
      expect(box.report(attempt, 'succeeded', report)).toEqual(accepted);
      expect(box.changes('AttemptEnded')).toMatchObject([
        { outcome: 'permanent', taskState: 'failed', output: null, error: expect.stringMatching(/left, right\.$/) },
      ]);
      // Told again, it gets the same answer, from memory and from what is stored (I22).
      expect(box.feed(reportOf(attempt, 'succeeded', report))).toEqual(accepted);
      box.killOwner();
      expect(box.feed(reportOf(attempt, 'succeeded', report))).toEqual(accepted);
    },
  );
});

describe('a short circuit', () => {
  const specOf = (shortCircuit: 'next' | 'all') =>
    dag([
      task('check', [], { shortCircuit }),
      task('other'),
      task('next', [0]),
      task('join', [1, 2], { rule: 'none_failed' }),
      task('early', [1, 2], { rule: 'one_done' }),
    ]);

  test.each(['next', 'all'] as const)('lets pass what is not empty (%s)', (kind) => {
    const box = scenario({ dag: specOf(kind) });
    end(box, 'check', [1]);
    expect(states(box, 'next', 'join')).toEqual(['ready', 'blocked']);
  });

  test('skips the next ones; what is behind them goes by its rule', () => {
    const box = scenario({ dag: specOf('next') });
    const [check, other] = [box.claim('check'), box.claim('other')];
    box.report(other, 'succeeded');
    expect(states(box, 'early')).toEqual(['ready']);
    box.report(check, 'succeeded', { output: 'false' });
    expect(states(box, 'next', 'join', 'early')).toEqual(['skipped', 'ready', 'ready']);
  });

  test('with all skips everything behind it, whatever its rule and whoever ends first (I31)', () => {
    for (const order of [
      ['check', 'other'],
      ['other', 'check'],
    ]) {
      const box = scenario({ dag: specOf('all') });
      const attempts = { check: box.claim('check'), other: box.claim('other') };
      box.hold();
      for (const name of order as ('check' | 'other')[]) box.report(attempts[name], 'succeeded', { output: '0' });
      expect(states(box, 'next', 'join', 'early')).toEqual(['skipped', 'skipped', 'skipped']);
      expect(box.run().outcome).toBe('succeeded');
    }
  });
});

describe('a task that a branch or a short circuit does not let pass', () => {
  /** Keeps the run open, so that its states can be looked at. */
  const keep = task('keep');
  const choosers = [
    ['branch', { branch: true }, 'other'],
    ['short circuit', { shortCircuit: 'next' }, false],
    ['short circuit of all', { shortCircuit: 'all' }, false],
  ] as const;

  test.each(choosers.flatMap((chooser) => TRIGGER_RULES.map((rule) => [...chooser, rule] as const)))(
    'is skipped when it needs the %s directly, whatever its rule (%#: %j %j %s)',
    (_, options, output, rule) => {
      const spec = dag([task('gate', [], options), task('other', [0]), task('sweep', [0], { rule }), keep]);
      const box = scenario({ dag: spec });
      expect(states(box, 'sweep')).toEqual(['blocked']);
      const gate = box.claim('gate');
      box.report(gate, 'succeeded', { output: JSON.stringify(output) });
      expect(states(box, 'sweep')).toEqual(['skipped']);
      box.killOwner();
      expect(states(box, 'sweep')).toEqual(['skipped']);
    },
  );

  test.each(TRIGGER_RULES)('does not depend on who ends first: %s beside a task that failed (I31)', (rule) => {
    const spec = dag([task('gate', [], { shortCircuit: 'next' }), task('side'), task('sweep', [0, 1], { rule }), keep]);
    for (const order of [['gate', 'side'] as const, ['side', 'gate'] as const]) {
      const box = scenario({ dag: spec });
      const attempts = { gate: box.claim('gate'), side: box.claim('side') };
      for (const name of order) {
        if (name === 'gate') box.report(attempts.gate, 'succeeded', { output: 'false' });
        else box.report(attempts.side, 'permanent');
      }
      expect(states(box, 'sweep')).toEqual(['skipped']);
    }
  });

  test('goes by its rule when the short circuit itself failed or was skipped', () => {
    const spec = dag([
      task('gate', [], { shortCircuit: 'next' }),
      task('sweep', [0], { rule: 'all_done' }),
      task('strict', [0]),
      keep,
    ]);
    const box = scenario({ dag: spec });
    box.report(box.claim('gate'), 'permanent');
    expect(states(box, 'sweep', 'strict')).toEqual(['ready', 'upstream_failed']);
  });

  test.each([
    ['arm', 'ready', ['succeeded', 'skipped', 'ready']],
    ['far', 'skipped', ['skipped', 'succeeded', 'skipped']],
  ])('runs when it also needs the arm that was chosen (%s)', (chosen, _, wanted) => {
    const spec = dag([
      task('choose', [], { branch: true }),
      task('arm', [0]),
      task('far', [0]),
      task('join', [0, 1]),
      task('tail', [3]),
      keep,
    ]);
    const box = scenario({ dag: spec });
    end(box, 'choose', chosen);
    box.mark(chosen, 'succeeded');
    expect(states(box, 'arm', 'far', 'join')).toEqual(wanted);
    box.killOwner();
    expect(states(box, 'arm', 'far', 'join')).toEqual(wanted);
  });

  test.each([
    ['arm', ['succeeded', 'skipped', 'expanded']],
    ['far', ['skipped', 'succeeded', 'skipped']],
  ])('runs when it needs the branch and is mapped over what the chosen task returned (%s)', (chosen, wanted) => {
    const spec = dag(
      [
        task('choose', [], { branch: true }),
        task('arm', [0], { facts: [[]] }),
        task('far', [0]),
        task('each', [0], { group: 0 }),
        keep,
      ],
      {
        groups: [{ name: 'each', parent: null, map: { over: [{ from: 'task', task: 1, fact: 0 }], mode: 'product' } }],
      },
    );
    const box = scenario({ dag: spec });
    end(box, 'choose', chosen);
    end(box, chosen, [1, 2]);
    expect(states(box, 'arm', 'far', 'each')).toEqual(wanted);
    box.killOwner();
    expect(states(box, 'arm', 'far', 'each')).toEqual(wanted);
  });

  test('in a mapped group goes by the branch of its own item', () => {
    const spec = dag(
      [
        task('choose', [], { group: 0, branch: true }),
        task('left', [0], { group: 0, rule: 'all_done' }),
        task('right', [0], { group: 0, rule: 'always' }),
      ],
      { groups: [{ name: 'each', parent: null, map: { over: [{ from: 'list', length: 2 }], mode: 'product' } }] },
    );
    const box = scenario({ dag: spec });
    const [first, second] = [box.claim('choose[0]'), box.claim('choose[1]')];
    box.report(first, 'succeeded', { output: '"left"' });
    box.report(second, 'succeeded', { output: '"right"' });
    const found = ['left[0]', 'right[0]', 'left[1]', 'right[1]'];
    expect(states(box, ...found)).toEqual(['ready', 'skipped', 'skipped', 'ready']);
  });
});

describe('when a task has failed', () => {
  const tasks = (): DagSpec['tasks'] => [
    task('a'),
    task('b', [], { retry: { maxAttempts: 3, minMs: 60_000, maxMs: 60_000 } }),
    task('c'),
    task('after-a', [0]),
    task('all', [0, 1], {}),
  ];

  test('`continue` finishes what does not depend on it, then fails', () => {
    const box = scenario({ dag: dag(tasks()) });
    box.report(box.claim('a'), 'permanent');
    end(box, 'b');
    expect(states(box, 'c', 'after-a', 'all')).toEqual(['ready', 'upstream_failed', 'upstream_failed']);
    end(box, 'c');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('`fail_fast` closes the run: what runs is stopped, what waits is cancelled, no report makes it succeed', () => {
    const box = scenario({ dag: dag(tasks(), { onFailure: 'fail_fast' }) });
    const [a, b] = [box.claim('a'), box.claim('b')];
    box.report(a, 'permanent');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    expect(states(box, 'b', 'c', 'after-a')).toEqual(['running', 'cancelled', 'upstream_failed']);
    expect(box.worker().killed).toMatchObject([{ claim: b.claim, reason: 'cancelled' }]);
    expect(box.tryClaim()).toBeNull();
    expect(box.cancel()).toMatchObject({ code: 'RUN_ENDED', detail: 'failed' });
    expect(box.retry('a')).toMatchObject({ code: 'TASK_NOT_RETRYABLE', detail: 'its run is closing' });
    box.report(b, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('what was stopped by `fail_fast` decides nothing any more, live or loaded (I19)', () => {
    const gate = task('gate', [], { shortCircuit: 'all' });
    const looked = task('looked', [], { facts: [['n']] });
    const behind = [task('b', [1, 2]), task('c', [0, 2], { rule: 'always', when: over(0) })];
    const box = scenario({ dag: dag([looked, gate, task('a'), ...behind], { onFailure: 'fail_fast' }) });
    const [first, second, failing] = [box.claim('looked'), box.claim('gate'), box.claim('a')];
    box.report(failing, 'permanent');
    box.hold();
    for (const attempt of [first, second]) box.report(attempt, 'cancelled');
    expect(states(box, 'looked', 'gate', 'b', 'c')).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    box.settle();
    const { tasks, ...run } = stored(box);
    expect(deriveTaskStates(new Graph(box.changes('DagDeployed')[0]!.spec), tasks, run).slice(3)).toEqual([
      'cancelled',
      'cancelled',
    ]);
  });

  test('`fail_fast` waits for the last try of a task', () => {
    const box = scenario({ dag: dag(tasks(), { onFailure: 'fail_fast' }) });
    const [a, b] = [box.claim('a'), box.claim('b')];
    box.report(b, 'transient');
    expect(box.run().phase).toBe('open');
    box.report(a, 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test.each(['live', 'loaded'])('a retry by hand of the failed task goes on with all that was stopped (%s)', (how) => {
    const box = scenario({ dag: dag(tasks(), { onFailure: 'fail_fast' }) });
    const [a, b] = [box.claim('a'), box.claim('b')];
    box.report(b, 'transient');
    const c = box.claim('c');
    box.report(a, 'permanent');
    box.report(c, 'cancelled');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    if (how === 'loaded') box.killOwner();
    expect(box.retry('a')).toMatchObject({ ok: true });
    expect(box.changes('TaskCleared').map(({ taskNo, from, freshBudget }) => [taskNo, from, freshBudget])).toEqual([
      [0, 'failed', true],
      [1, 'retrying', false],
      [2, 'cancelled', true],
    ]);
    for (const name of ['a', 'b', 'c', 'after-a', 'all']) end(box, name);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('`skip_failed` goes on without it, says which failed, and fails in the end', () => {
    const box = scenario({ dag: dag(tasks(), { onFailure: 'skip_failed' }) });
    box.report(box.claim('a'), 'permanent');
    end(box, 'b', { n: 1 });
    end(box, 'c');
    end(box, 'after-a');
    end(box, 'all');
    const sent = box.effects.filter((effect) => effect.kind === 'SendAssignment');
    expect(sent.map(({ failedUpstream, succeededUpstream }) => [succeededUpstream, failedUpstream])).toEqual([
      [[], []],
      [[], []],
      [[], []],
      [[], [0]],
      [[1], [0]],
    ]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a run fails with its leaves: a failure that was taken care of is none of it', () => {
    const box = scenario({ dag: dag([task('a'), task('mend', [0], { rule: 'one_failed' })]) });
    box.report(box.claim('a'), 'permanent');
    end(box, 'mend');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

test('what waits behind a task that is tried again waits for it, also when it was ready because of the failure (I32)', () => {
  const box = scenario({
    dag: dag([task('a'), task('b', [0], { rule: 'all_done' }), task('c', [0], { rule: 'one_failed' })]),
  });
  box.report(box.claim('a'), 'permanent');
  expect(states(box, 'b', 'c')).toEqual(['ready', 'ready']);
  box.retry('a');
  expect(states(box, 'b', 'c')).toEqual(['blocked', 'blocked']);
  end(box, 'a');
  expect(states(box, 'b', 'c')).toEqual(['ready', 'skipped']);
  end(box, 'b');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

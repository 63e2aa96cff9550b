import { describe, expect, test } from 'vitest';
import type { Answer } from '../../model/answer.ts';
import type { NewTask } from '../../model/command.ts';
import type { DagSpec } from '../../model/dag/spec.ts';
import { type Attempt, accepted, type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const RETRY = { maxAttempts: 3, minMs: 0, maxMs: 0 };
const copy = task('copy', [], { handler: 'copy' });

/** `plan` may add; `sum` needs it; `aside` needs nothing. */
function planned(options: Partial<DagSpec> = {}): DagSpec {
  const tasks = [
    task('plan', [], { adds: true, retry: RETRY }),
    task('sum', [0]),
    task('aside', [], { queue: 'other' }),
  ];
  return dag(tasks, { templates: [copy, task('late', [2], { retry: RETRY })], maxAddedTasks: 6, ...options });
}

type Said = Partial<NewTask> & { readonly name: string };

function add(box: Scenario, { claim, worker }: Attempt, ...tasks: Said[]): Answer {
  const said = tasks.map((one) => ({ template: 'copy', needs: [], before: [], inputs: null, ...one }));
  return box.feed({ kind: 'AddTasks', claim, workerId: worker.id, tasks: said });
}

const workers = { w1: ['default'], w2: ['other'] };
const refusal = (box: Scenario, attempt: Attempt, ...tasks: Said[]) => {
  const before = box.node.journal.length;
  const answer = add(box, attempt, ...tasks);
  expect(box.node.journal).toHaveLength(before);
  return answer.ok ? null : [answer.code, answer.detail];
};

test('what an attempt adds waits for it, and what is named waits for that', () => {
  const box = scenario({ dag: planned(), workers });
  const plan = box.claim('plan');
  expect(add(box, plan, { name: 'a', before: ['sum'] }, { name: 'b', needs: ['a'], before: ['sum'] })).toEqual(
    accepted,
  );
  expect(box.tryClaim()).toBeNull();
  box.report(plan, 'succeeded');
  expect(box.task('sum').state).toBe('blocked');
  box.report(box.claim('a'), 'succeeded');
  expect(box.task('sum').state).toBe('blocked');
  box.report(box.claim('b'), 'succeeded');
  box.report(box.claim('sum'), 'succeeded');
  box.report(box.claim('aside', box.worker('w2')), 'succeeded');
  expect(box.run().outcome).toBe('succeeded');
});

test("they have their template's work, with inputs of their own, and see what they need", () => {
  const template = task('copy', [2], {
    handler: 'copy',
    work: { kind: 'handler', inputs: { to: { from: 'value', value: 1 } } },
  });
  const box = scenario({ dag: planned({ templates: [template] }), workers });
  box.report(box.claim('aside', box.worker('w2')), 'succeeded', { output: '7' });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', inputs: '{"file":"x"}', before: ['sum'] });
  box.report(plan, 'succeeded');
  box.claim('a');
  const sent = box.effects.findLast((effect) => effect.kind === 'SendAssignment')!;
  expect(sent.version.task(sent.specNo)).toMatchObject({
    name: 'a',
    handler: 'copy',
    work: { kind: 'handler', inputs: { to: { from: 'value', value: 1 }, file: { from: 'value', value: 'x' } } },
  });
  expect(sent.succeededUpstream).toEqual([0, 2]);
});

test('said again it is the same, by the same attempt and by the next one; and a handover keeps it (I17, I22)', () => {
  const box = scenario({ dag: planned(), workers });
  const first = box.claim('plan');
  add(box, first, { name: 'a', before: ['sum'] });
  const before = box.node.journal.length;
  expect(add(box, first, { name: 'a', before: ['sum'] })).toEqual(accepted);
  expect(box.node.journal).toHaveLength(before);
  box.report(first, 'transient');
  box.killOwner().advance('1ms');
  const second = box.claim('plan');
  expect(add(box, second, { name: 'a', before: ['sum'] })).toEqual(accepted);
  box.report(second, 'succeeded');
  box.killOwner();
  box.report(box.claim('a'), 'succeeded');
  box.report(box.claim('sum'), 'succeeded');
  expect(box.changes('AttemptClaimed').filter(({ taskNo }) => taskNo === 3)).toHaveLength(1);
});

test('a later attempt may change what has not begun; what it does not name is skipped, and nothing waits for it', () => {
  const box = scenario({ dag: planned(), workers });
  const first = box.claim('plan');
  add(box, first, { name: 'a', before: ['sum'] }, { name: 'b', before: ['sum'] }, { name: 'c' });
  box.report(first, 'transient');
  box.advance('1ms');
  const second = box.claim('plan');
  expect(add(box, second, { name: 'a', template: 'late', before: ['sum'] })).toEqual(accepted);
  box.report(second, 'succeeded');
  expect([box.task('b').state, box.task('c').state, box.task('a').state]).toEqual(['skipped', 'skipped', 'blocked']);
  box.report(box.claim('aside', box.worker('w2')), 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  box.report(box.claim('sum'), 'succeeded');
  expect(box.run().outcome).toBe('succeeded');
});

test('the fate of the one that adds is theirs', () => {
  const box = scenario({ dag: planned(), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', before: ['sum'] });
  box.report(plan, 'permanent');
  expect([box.task('a').state, box.task('sum').state]).toEqual(['upstream_failed', 'upstream_failed']);
});

test('a clear of the one that adds takes along what it has added, which the next attempt may say otherwise', () => {
  const box = scenario({ dag: planned(), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', before: ['sum'], inputs: '{"n":1}' });
  box.report(plan, 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  box.clear(['plan'], { downstream: true });
  expect(box.task('a').state).toBe('blocked');
  const again = box.claim('plan');
  add(box, again, { name: 'a', before: ['sum'], inputs: '{"n":2}' }, { name: 'd', needs: ['a'] });
  box.report(again, 'succeeded');
  const second = box.claim('a');
  expect(second.claim).toMatchObject({ attemptNo: 2, fence: 2 });
  box.report(second, 'succeeded');
  expect([box.task('d').state, box.task('sum').state]).toEqual(['ready', 'ready']);
});

test('added again by a template without a limit for its queue time, it waits as long as it must (I41)', () => {
  const hasty = task('hasty', [], { queueTimeoutMs: 10_000 });
  const box = scenario({ dag: planned({ templates: [copy, hasty] }), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', template: 'hasty' });
  box.report(plan, 'succeeded');
  expect(box.task('a').state).toBe('ready');
  box.clear(['plan'], { downstream: true });
  const again = box.claim('plan');
  add(box, again, { name: 'a', template: 'copy' });
  box.report(again, 'succeeded');
  box.advance('11s', [...box.workers.values()]);
  expect(box.task('a').state).toBe('ready');
});

test('cleared by itself, the one that adds finds what it had added, and that stays', () => {
  const box = scenario({ dag: planned(), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', before: ['sum'] });
  box.report(plan, 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  box.clear(['plan']);
  const again = box.claim('plan');
  expect(add(box, again, { name: 'a', before: ['sum'] })).toEqual(accepted);
  expect(refusal(box, again, { name: 'a', inputs: '{}' })?.[1]).toContain('has begun');
  box.report(again, 'succeeded');
  expect(box.task('a').state).toBe('succeeded');
});

test('they are tried again, marked, cancelled and decide the run like others', () => {
  const box = scenario({ dag: planned(), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', template: 'late' }, { name: 'b', before: ['sum'] });
  box.report(plan, 'succeeded');
  box.report(box.claim('aside', box.worker('w2')), 'succeeded');
  box.mark('b', 'skipped');
  expect(box.task('sum').state).toBe('skipped');
  const first = box.tryClaim()!;
  box.report(first, 'transient');
  box.advance('1ms');
  expect(box.task('a').state).toBe('ready');
  box.report(box.claim('a'), 'permanent');
  expect(box.run().outcome).toBe('failed');
  expect(box.retry('a').ok).toBe(true);
  box.report(box.claim('a'), 'succeeded');
  expect(box.run().outcome).toBe('succeeded');
});

test('a leaf that failed before a task was added behind it decides the run no more: what was added does (I33)', () => {
  const box = scenario({ dag: planned({ templates: [task('mend', [2], { rule: 'all_done' })] }), workers });
  box.report(box.claim('aside', box.worker('w2')), 'permanent');
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', template: 'mend' });
  box.report(plan, 'succeeded');
  box.report(box.claim('sum'), 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  expect(box.run().outcome).toBe('succeeded');
});

test.each([
  ['arm', ['ready', 'ready']],
  ['other', ['skipped', 'skipped']],
])('behind a branch and one of its tasks, they go by what the branch chose (%s)', (chosen, wanted) => {
  const tasks = [
    task('choose', [], { branch: true, adds: true }),
    task('arm', [0]),
    task('other', [0]),
    task('aside', [], { queue: 'other' }),
  ];
  const box = scenario({ dag: planned({ tasks }), workers });
  const choose = box.claim('choose');
  add(box, choose, { name: 'a', needs: ['arm'] }, { name: 'b', needs: ['choose', 'arm'] });
  box.report(choose, 'succeeded', { output: JSON.stringify(chosen) });
  box.report(box.claim(chosen), 'succeeded');
  const states = () => ['a', 'b'].map((name) => box.task(name).state);
  expect(states()).toEqual(wanted);
  box.killOwner();
  expect(states()).toEqual(wanted);
});

test('a teardown waits for what is added by a task that it waits for', () => {
  const tasks = [task('make'), task('plan', [0], { adds: true }), task('remove', [0, 1], { teardown: [0] })];
  const box = scenario({ dag: dag(tasks, { templates: [copy], maxAddedTasks: 2 }) });
  box.report(box.claim('make'), 'succeeded');
  const plan = box.claim('plan');
  expect(add(box, plan, { name: 'a' })).toEqual(accepted);
  box.report(plan, 'succeeded');
  expect(box.task('remove').state).toBe('blocked');
  box.report(box.claim('a'), 'succeeded');
  box.report(box.claim('remove'), 'succeeded');
  expect(box.run().outcome).toBe('succeeded');
});

test('beside maps: instances have numbers behind the seats, whenever tasks are added', () => {
  const tasks = [
    task('list', [], { facts: [[]] }),
    task('each', [], { group: 0 }),
    task('plan', [], { adds: true, queue: 'other' }),
    task('sum', [1, 2]),
  ];
  const groups = [
    { name: 'each', parent: null, map: { mode: 'product', over: [{ from: 'task', task: 0, fact: 0 }] } },
  ] as const;
  const box = scenario({ dag: dag(tasks, { groups, templates: [copy], maxAddedTasks: 2 }), workers });
  const plan = box.claim('plan', box.worker('w2'));
  expect(add(box, plan, { name: 'a', before: ['sum'] })).toEqual(accepted);
  box.report(box.claim('list'), 'succeeded', { output: '[1,2]' });
  const first = box.claim('each[0]');
  expect(first.claim.taskNo).toBe(6);
  box.report(first, 'succeeded');
  expect(add(box, plan, { name: 'b', needs: ['each'], before: ['sum'] })).toEqual(accepted);
  expect(refusal(box, plan, { name: 'c' })?.[1]).toMatch(/may have 2 added tasks/);
  box.killOwner();
  box.report(plan, 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  expect(box.task('b').state).toBe('blocked');
  box.report(box.claim('each[1]'), 'succeeded');
  box.report(box.claim('b'), 'succeeded');
  box.report(box.claim('sum'), 'succeeded');
  expect(box.run().outcome).toBe('succeeded');
});

test('two that name each other, one as need and one as before, are one edge', () => {
  const box = scenario({ dag: planned(), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', before: ['b', 'sum'] }, { name: 'b', needs: ['a'] });
  const { spec } = box.state.runs.versionOf(box.state.runs.find(box.lastRun()));
  expect(spec.tasks.map(({ name, needs }) => [name, needs]).slice(3)).toEqual([
    ['a', [0]],
    ['b', [0, 3]],
  ]);
  box.report(plan, 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  expect([box.task('b').state, box.task('sum').state]).toEqual(['ready', 'ready']);
});

test('a task that was added may add, where its template says so', () => {
  const templates = [task('more', [], { adds: true }), copy];
  const box = scenario({ dag: planned({ templates }), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', template: 'more', before: ['sum'] });
  box.report(plan, 'succeeded');
  const inner = box.claim('a');
  expect(add(box, inner, { name: 'b', before: ['sum'] })).toEqual(accepted);
  expect(refusal(box, inner, { name: 'a' })?.[1]).toContain('which this one has not added');
  box.killOwner();
  box.report(inner, 'succeeded');
  expect(box.task('sum').state).toBe('blocked');
  box.clear(['plan'], { downstream: true, force: true });
  const again = box.claim('plan');
  box.report(again, 'succeeded');
  // Nobody names them any more: they are skipped, and what waited for them does not.
  expect([box.task('a').state, box.task('b').state, box.task('sum').state]).toEqual(['skipped', 'skipped', 'ready']);
});

test('added once more by a template that adds nothing, it drops what it had added', () => {
  const templates = [task('more', [], { adds: true }), copy];
  const box = scenario({ dag: planned({ templates }), workers });
  const plan = box.claim('plan');
  add(box, plan, { name: 'a', template: 'more', before: ['sum'] });
  box.report(plan, 'succeeded');
  const inner = box.claim('a');
  add(box, inner, { name: 'b', before: ['sum'] });
  box.report(inner, 'succeeded');
  box.clear(['plan'], { downstream: true, force: true });
  const again = box.claim('plan');
  add(box, again, { name: 'a', before: ['sum'] });
  box.report(again, 'succeeded');
  box.report(box.claim('a'), 'succeeded');
  expect([box.task('b').state, box.task('sum').state]).toEqual(['skipped', 'ready']);
});

test('a mapped task that failed as the last of its way decides the run no more when one is added behind it (I33)', () => {
  const map = { over: [{ from: 'list', length: 2 } as const], mode: 'product' as const };
  const tasks = [...planned().tasks, task('each', [], { group: 0 }), task('plan2', [], { adds: true, queue: 'other' })];
  const box = scenario({ dag: planned({ tasks, groups: [{ name: 'each', parent: null, map }] }), workers });
  box.report(box.claim('plan'), 'succeeded');
  box.report(box.claim('sum'), 'succeeded');
  for (const name of ['each[0]', 'each[1]']) box.report(box.claim(name), 'permanent');
  box.report(box.claim('aside', box.worker('w2')), 'succeeded');
  const late = box.claim('plan2', box.worker('w2'));
  expect(box.state.runs.failed[box.state.runs.find(box.lastRun())]).toBe(3); // both, and the task itself
  add(box, late, { name: 'x', needs: ['each'] });
  expect(box.state.runs.failed[box.state.runs.find(box.lastRun())]).toBe(1); // what was added
  box.killOwner();
  box.report(late, 'succeeded');
  expect(box.task('x').state).toBe('upstream_failed');
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
});

describe('what is refused changes nothing', () => {
  const full = Array.from({ length: 7 }, (_, i) => ({ name: `x${i}` }));
  test.each<[string, Said[], RegExp]>([
    ['a name twice', [{ name: 'a' }, { name: 'a' }], /Two tasks/],
    ['the name of a task that is there', [{ name: 'sum' }], /has a task sum already/],
    ['no such template', [{ name: 'a', template: 'none' }], /no template none; it has copy, late/],
    ['no such task', [{ name: 'a', needs: ['ghost'] }], /no task ghost/],
    ['itself', [{ name: 'a', needs: ['a'] }], /names itself/],
    ['a cycle', [{ name: 'a', needs: ['sum'], before: ['sum'] }], /cycle: .*needs/],
    [
      'a cycle among them',
      [
        { name: 'a', needs: ['b'] },
        { name: 'b', needs: ['a'] },
      ],
      /cycle/,
    ],
    ['more than there are seats for', full, /may have 6 added tasks and would have 7: raise maxAddedTasks/],
    ['before the one that adds', [{ name: 'a', before: ['plan'] }], /has begun or ended/],
    ['one good and one bad', [{ name: 'a' }, { name: 'b', needs: ['ghost'] }], /no task ghost/],
  ])('%s', (_, tasks, message) => {
    const box = scenario({ dag: planned(), workers });
    expect(refusal(box, box.claim('plan'), ...tasks)).toEqual(['ADD_REFUSED', expect.stringMatching(message)]);
  });

  test('before what has begun', () => {
    const box = scenario({ dag: planned(), workers });
    const plan = box.claim('plan');
    expect(refusal(box, plan, { name: 'a', before: ['aside'] })?.[1]).toMatch(/has begun or ended/);
  });

  test('before a task whose hook before it may run already', () => {
    const tasks = [...planned().tasks, task('aside:before', [], { hook: { of: 2, on: 'before' } })];
    const box = scenario({ dag: planned({ tasks }), workers });
    expect(refusal(box, box.claim('plan'), { name: 'a', before: ['aside'] })?.[1]).toContain('has begun or ended');
  });

  test('where a task that may run already would come behind a short circuit', () => {
    const tasks = [
      task('plan', [], { adds: true }),
      task('gate', [], { shortCircuit: 'all', queue: 'other' }),
      task('sum', [0]),
      task('eager', [2], { rule: 'always', queue: 'third' }),
    ];
    const box = scenario({ dag: planned({ tasks, templates: [copy] }), workers });
    const plan = box.claim('plan');
    const said = refusal(box, plan, { name: 'a', needs: ['gate'], before: ['sum'] });
    expect(said?.[1]).toContain('eager would come behind the short circuit gate');
    expect(add(box, plan, { name: 'a', before: ['sum'] })).toEqual(accepted);
  });

  test('otherwise under the same name, by the same attempt', () => {
    const box = scenario({ dag: planned(), workers });
    const plan = box.claim('plan');
    add(box, plan, { name: 'a' });
    expect(refusal(box, plan, { name: 'a', template: 'late' })?.[1]).toMatch(/has added it already/);
  });

  test('of a task that may not', () => {
    const box = scenario({ dag: planned(), workers });
    const other = box.claim('aside', box.worker('w2'));
    expect(refusal(box, other, { name: 'a' })?.[1]).toBe(
      'The task aside may not add tasks: deploy it with "adds: true".',
    );
  });

  test('of an attempt that holds the task no more, or was cancelled (I21, I42)', () => {
    const box = scenario({ dag: planned(), workers });
    const first = box.claim('plan');
    box.report(first, 'transient');
    expect(refusal(box, first, { name: 'a' })?.[0]).toBe('STALE_TOKEN');
    box.advance('1ms');
    const second = box.claim('plan');
    box.cancel();
    expect(refusal(box, second, { name: 'a' })).toEqual(['STALE_TOKEN', 'cancelled']);
  });
});

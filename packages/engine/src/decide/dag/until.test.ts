import { describe, expect, test } from 'vitest';
import { Graph } from '../../model/dag/graph.ts';
import type { DagSpec } from '../../model/dag/spec.ts';
import { limitSpec } from '../../model/dag/until.ts';
import { deriveTaskStates } from '../../propagate/derive.ts';
import { readTasks } from '../../propagate/read-tasks.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

function upTo(spec: DagSpec, until: string, workers = ['w1']): Scenario {
  const box = scenario({ dag: spec, runs: 0, workers });
  expect(box.submit({ items: [{ params: null, priority: null, until }] })).toMatchObject({ ok: true });
  return box;
}

/** Lets all that can run succeed, with these outputs; answers with the names in the order of their claims. */
function playOut(box: Scenario, outputs: Record<string, unknown> = {}): string[] {
  const names: string[] = [];
  for (let attempt = box.tryClaim(); attempt !== null; attempt = box.tryClaim()) {
    names.push(attempt.task);
    box.report(attempt, 'succeeded', { output: JSON.stringify(outputs[attempt.task] ?? null) });
  }
  return names;
}

const states = (box: Scenario, ...names: string[]) => names.map((name) => box.task(name).state);
const ended = { phase: 'ended', outcome: 'succeeded' };

const spec = dag([
  task('extract'),
  task('load', [0]),
  task('report', [1]),
  task('mail', [2], { rule: 'always' }),
  task('other', [], { rule: 'all_done' }),
]);

describe('a run up to a chosen task', () => {
  test('runs that and what it depends on; the rest is skipped at once, and says why', () => {
    const box = upTo(spec, 'load');
    expect(states(box, 'extract', 'load', 'report', 'mail', 'other')).toEqual([
      ...['ready', 'blocked'],
      ...['skipped', 'skipped', 'skipped'],
    ]);
    box.killOwner();
    expect(states(box, 'extract', 'report')).toEqual(['ready', 'skipped']);
    expect(playOut(box)).toEqual(['extract', 'load']);
    expect(box.run()).toMatchObject(ended);
    const stored = box.node.store.runsStored()[0]!;
    const read = readTasks(limitSpec(spec, 'load'), stored.tasks, stored);
    expect([read.stateOf(2), read.reasonOf(2)]).toEqual([
      'skipped',
      'The run stops at load, which does not depend on this task.',
    ]);
  });

  test('fails with that task, though others need it', () => {
    const box = upTo(spec, 'load');
    box.report(box.claim('extract'), 'succeeded');
    box.report(box.claim('load'), 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('is the whole run when the last task is chosen', () => {
    const box = upTo(dag([task('a'), task('b', [0])]), 'b');
    expect(playOut(box)).toEqual(['a', 'b']);
  });

  test.each([
    ['nothing', 'the dag has no task or group nothing; its tasks are extract, load, report, mail, other'],
    ['load[0]', 'the dag has no task or group load[0]; its tasks are extract, load, report, mail, other'],
  ])('is refused for a name that is none: %s, and nothing is made', (until, detail) => {
    const box = scenario({ dag: spec, runs: 0 });
    const items = [
      { params: null, priority: null },
      { params: null, priority: null, until },
    ];
    expect(box.submit({ items })).toEqual({ ok: false, code: 'UNTIL_INVALID', detail });
    expect(box.runIds).toEqual([]);
  });

  test('stays inside when it is retried, cleared and marked, live and loaded', () => {
    for (const how of ['live', 'loaded']) {
      const box = upTo(spec, 'load');
      box.report(box.claim('extract'), 'succeeded');
      box.report(box.claim('load'), 'permanent');
      expect(box.retry('load')).toMatchObject({ ok: true });
      if (how === 'loaded') box.killOwner();
      expect(states(box, 'load', 'report', 'other')).toEqual(['ready', 'skipped', 'skipped']);
      expect(playOut(box)).toEqual(['load']);
      expect(box.clear(['extract'], { downstream: true })).toMatchObject({ ok: true });
      if (how === 'loaded') box.killOwner();
      expect(playOut(box)).toEqual(['extract', 'load']);
      for (const answer of [box.mark('report', 'succeeded'), box.clear(['mail'])]) {
        expect(answer).toMatchObject({ ok: false, code: 'TASK_OUTSIDE_RUN' });
      }
      expect(box.retry('report')).toMatchObject({ ok: false, code: 'TASK_NOT_RETRYABLE' });
      expect(box.clear(null)).toMatchObject({ ok: true });
      expect(playOut(box)).toEqual(['extract', 'load']);
      expect(box.run()).toMatchObject(ended);
    }
  });

  test('a branch may choose what is outside: nothing of it runs', () => {
    const branching = dag([task('choose', [], { branch: true }), task('left', [0]), task('right', [0])]);
    const box = upTo(branching, 'left');
    expect(playOut(box, { choose: 'right' })).toEqual(['choose']);
    expect(box.run()).toMatchObject(ended);
  });
});

describe('what goes with it', () => {
  const cluster = dag(
    [
      task('make', [], { setup: true }),
      task('train', [0]),
      task('evaluate', [1]),
      task('drop', [0, 1, 2], { teardown: [0] }),
      task('other', [], { setup: true }),
      task('drop-other', [4], { teardown: [4] }),
      task('train:after', [], { hook: { of: 1, on: 'after' } }),
      task('evaluate:before', [], { hook: { of: 2, on: 'before' } }),
      task('run:after', [], { hook: { of: null, on: 'after' } }),
      task('sweep', [1], { teardown: [] }),
      task('sweep-late', [2], { teardown: [] }),
    ],
    { compensate: true },
  );

  test('a teardown whose setup runs, and the hooks of what runs and of the run', () => {
    const box = upTo(cluster, 'train');
    expect(states(box, 'evaluate', 'other', 'drop-other', 'evaluate:before', 'sweep-late')).toEqual(
      Array.from({ length: 5 }, () => 'skipped'),
    );
    box.killOwner();
    expect(new Set(playOut(box))).toEqual(new Set(['make', 'train', 'drop', 'train:after', 'sweep', 'run:after']));
    expect(box.run()).toMatchObject(ended);
  });

  test.each([
    ['drop', 'drop is a teardown: name an ordinary task, or a group'],
    ['train:after', 'train:after is a hook: name an ordinary task, or a group'],
    ['evaluate:before', 'evaluate:before is a hook: name an ordinary task, or a group'],
  ])('but none of those can be chosen: %s', (until, detail) => {
    const box = scenario({ dag: cluster, runs: 0 });
    expect(box.submit({ items: [{ params: null, priority: null, until }] })).toMatchObject({
      ok: false,
      code: 'UNTIL_INVALID',
      detail,
    });
  });
});

describe('with maps', () => {
  const list = { over: [{ from: 'list', length: 2 }], mode: 'product' } as const;
  const fromTask = { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } as const;
  const mapped = dag(
    [
      task('list', [], { facts: [[]] }),
      task('load', [0], { group: 0 }),
      task('check', [1], { group: 0 }),
      task('sum', [2]),
      task('far', [], { group: 1 }),
      task('check:after', [], { group: 0, hook: { of: 2, on: 'after' } }),
    ],
    {
      groups: [
        { name: 'each', parent: null, map: fromTask },
        { name: 'all', parent: null, map: list },
      ],
    },
  );

  test('up to a task in one: its other tasks are one skipped task each', () => {
    const box = upTo(mapped, 'load');
    expect(states(box, 'check', 'sum', 'far')).toEqual(['skipped', 'skipped', 'skipped']);
    box.report(box.claim('list'), 'succeeded', { output: '[1,2]' });
    box.killOwner();
    expect(playOut(box)).toEqual(['load[0]', 'load[1]']);
    expect(box.run()).toMatchObject(ended);
    const stored = box.node.store.runsStored()[0]!;
    expect(deriveTaskStates(new Graph(limitSpec(mapped, 'load')), stored.tasks, stored)).toEqual([
      ...['succeeded', 'succeeded'],
      ...Array.from({ length: 4 }, () => 'skipped'),
    ]);
  });

  test('up to a whole group, with what its maps run over and the hooks of its tasks', () => {
    const box = upTo(mapped, 'each');
    expect(new Set(playOut(box, { list: [1, 2] }))).toEqual(
      new Set(['list', 'load[0]', 'load[1]', 'check[0]', 'check[1]', 'check:after[0]', 'check:after[1]']),
    );
  });

  test('up to the source of a map that is outside', () => {
    const box = upTo(mapped, 'list');
    expect(playOut(box, { list: [1, 2] })).toEqual(['list']);
    expect(box.run()).toMatchObject(ended);
  });
});

test('a run that adds tasks runs what it adds; nothing outside can wait for that', () => {
  const adding = dag([task('plan', [], { adds: true }), task('join', [0]), task('end', [1])], {
    templates: [task('piece')],
  });
  const box = upTo(adding, 'join');
  const plan = box.claim('plan');
  const add = (name: string, before: string[]) =>
    box.feed({
      kind: 'AddTasks',
      claim: plan.claim,
      workerId: plan.worker.id,
      tasks: [{ name, template: 'piece', needs: [], before, inputs: null }],
    });
  expect(add('late', ['end'])).toMatchObject({ ok: false, code: 'ADD_REFUSED' });
  expect(add('one', ['join'])).toMatchObject({ ok: true });
  box.killOwner();
  box.report(plan, 'succeeded');
  expect(playOut(box)).toEqual(['one', 'join']);
  expect(box.run()).toMatchObject(ended);
});

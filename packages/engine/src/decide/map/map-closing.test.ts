import { describe, expect, test } from 'vitest';
import type { GroupSpec } from '../../model/dag/spec.ts';
import type { TaskNo } from '../../model/ids.ts';
import { type NaiveEnd, naiveName, naiveNodes } from '../../testing/naive-states.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

const groups: GroupSpec[] = [
  { name: 'work', parent: null, map: { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } },
];
const list = task('list', [], { facts: [[]] });
const work = task('work', [], { group: 0 });
const give = (box: Scenario, name: string, output: unknown = null) =>
  box.report(box.claim(name), 'succeeded', { output: JSON.stringify(output) });

describe('what closes a run', () => {
  test('waits for the last instance of a mapped task that it takes down after', () => {
    const box = scenario({ dag: dag([list, work, task('down', [1], { teardown: [0] })], { groups }) });
    give(box, 'list', [1, 2]);
    const [first, second] = [box.claim('work[0]'), box.claim('work[1]')];
    box.report(first, 'permanent');
    expect(box.task('down').state).toBe('blocked');
    box.killOwner();
    box.report(second, 'succeeded');
    give(box, 'down');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('an eager task between a mapped setup and its teardown waits for each instance of the setup', () => {
    const make = task('make', [], { group: 0, setup: true });
    const use = task('use', [1], { rule: 'one_done' });
    const spec = dag([list, make, use, task('drop', [2], { teardown: [1] })], { groups });
    const box = scenario({ dag: spec, workers: ['w1', 'w2'] });
    const ended = new Map<string, NaiveEnd>([['0', { state: 'succeeded', output: [1, 2] }]]);
    const states = () => [box.task('use').state, naiveNodes(spec, ended).get('2')];
    give(box, 'list', [1, 2]);
    for (const [no, seen] of ['blocked', 'ready'].entries()) {
      give(box, `make[${no}]`);
      ended.set(naiveName(1, [no]), { state: 'succeeded', output: null });
      expect(states()).toEqual([seen, seen]);
    }
  });

  test('a hook of a mapped task is retried by its instances, not as a whole', () => {
    const hook = task('hook', [], { group: 0, hook: { of: 1, on: 'success' } });
    const box = scenario({ dag: dag([list, work, hook], { groups }) });
    give(box, 'list', [1]);
    give(box, 'work[0]');
    box.report(box.claim('hook[0]'), 'permanent');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(box.retry('hook')).toMatchObject({ ok: false, code: 'TASK_NOT_RETRYABLE' });
    expect(box.retry(4)).toMatchObject({ ok: true }); // hook[0]
    give(box, 'hook[0]');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('a hook for retries runs for each instance that is tried again, though they are cleared together', () => {
    const again = task('again', [], { group: 0, hook: { of: 1, on: 'retry' } });
    const box = scenario({ dag: dag([list, work, again], { groups }) });
    give(box, 'list', [1, 2]);
    const hooks = ['again[0]', 'again[1]'];
    for (const name of ['work[0]', 'work[1]']) box.report(box.claim(name), 'permanent');
    for (let times = 1; times <= 2; times++) {
      // work[0] and work[1]
      const select = { tasks: [3 as TaskNo, 5 as TaskNo], states: null, downstream: false, upstream: false };
      const who = { tenantId: TENANT, runId: box.lastRun(), actor: box.actor };
      expect(box.feed({ kind: 'ClearTasks', ...who, select, force: false, dryRun: false })).toMatchObject({ ok: true });
      expect(hooks.map((name) => box.task(name).state)).toEqual(['ready', 'ready']);
      const claimed = Array.from({ length: 4 }, () => box.tryClaim()!);
      for (const one of claimed) box.report(one, hooks.includes(one.task) ? 'succeeded' : 'permanent');
    }
  });

  test('runs when a map was stopped on its way', () => {
    const box = scenario({
      dag: dag([list, work, task('down', [1], { teardown: [0] })], { groups }),
      settings: { unfoldPerStep: 1, graceMs: 0 },
    });
    const attempt = box.claim('list');
    const report = { claim: attempt.claim, workerId: attempt.worker.id, outcome: 'succeeded', error: null } as const;
    box.node.decide([{ kind: 'ReportAttempt', ...report, output: '[1,2,3]', startedAt: null }]);
    box.node.decide([{ kind: 'CancelRun', tenantId: 1 as never, runId: box.lastRun(), actor: box.actor }]);
    box.node.work();
    expect(box.task('work').state).toBe('cancelled');
    give(box, 'down');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('hears once of a mapped task, when all of it has ended', () => {
    const hook = task('told', [], { hook: { of: 1, on: 'failure' } });
    const box = scenario({ dag: dag([list, work, hook], { groups }) });
    give(box, 'list', [1, 2]);
    const [first, second] = [box.claim('work[0]'), box.claim('work[1]')];
    box.report(first, 'permanent');
    expect(box.task('told').state).toBe('blocked');
    box.report(second, 'succeeded');
    give(box, 'told');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});

describe('a hook before a mapped task', () => {
  const before = task('first', [], { group: 0, hook: { of: 1, on: 'before' } });

  test('runs before each of its instances', () => {
    const box = scenario({ dag: dag([list, work, before], { groups }) });
    give(box, 'list', [1, 2]);
    expect(['work[0]', 'work[1]'].map((name) => box.task(name).state)).toEqual(['blocked', 'blocked']);
    box.killOwner();
    give(box, 'first[0]');
    box.report(box.claim('work[0]'), 'succeeded');
    box.report(box.claim('first[1]'), 'permanent');
    expect(box.task('work[1]').state).toBe('upstream_failed');
    expect(box.task('first').state).toBe('failed');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('does not run before one that is skipped, nor for a map without items', () => {
    const never = { op: 'lt', left: { op: 'task', task: 3, fact: 0 }, right: { op: 'value', value: 2 } } as const;
    const gated = task('work', [3], { group: 0, when: { text: '…', expression: never } });
    const gate = task('gate', [0], { group: 0, facts: [['n']] });
    const box = scenario({ dag: dag([list, gated, before, gate], { groups }) });
    give(box, 'list', [1, 2]);
    const [one, two] = [box.claim('gate[0]'), box.claim('gate[1]')];
    box.report(one, 'succeeded', { output: '{"n":5}' });
    expect(['work[0]', 'first[0]'].map((name) => box.task(name).state)).toEqual(['skipped', 'skipped']);
    box.report(two, 'succeeded', { output: '{"n":1}' });
    give(box, 'first[1]');
    give(box, 'work[1]');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    const empty = scenario({ dag: dag([list, work, before], { groups }) });
    give(empty, 'list', []);
    expect(empty.task('first').state).toBe('skipped');
    expect(empty.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

describe('in a mapped group', () => {
  const make = task('make', [], { group: 0, setup: true });
  const use = task('use', [1], { group: 0 });
  const sum = task('sum', [2], {});
  const drop = task('drop', [1, 2], { group: 0, teardown: [1] });
  const shop: GroupSpec[] = [{ ...groups[0]!, name: 'shop' }];

  test('a teardown takes down what was made for its item, as soon as that is done with', () => {
    const box = scenario({ dag: dag([list, make, use, sum, drop], { groups: shop }), workers: ['w1', 'w2'] });
    give(box, 'list', [1, 2]);
    give(box, 'make[0]');
    box.report(box.claim('use[0]'), 'permanent');
    box.killOwner();
    give(box, 'drop[0]');
    give(box, 'make[1]');
    const second = box.claim('use[1]');
    expect(box.task('drop[1]').state).toBe('blocked');
    expect(box.task('drop').state).toBe('expanded');
    box.report(second, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    give(box, 'drop[1]');
    expect(box.task('drop').state).toBe('succeeded');
    expect(box.run().phase).toBe('ended');
  });

  test('a cancel takes down what was made, once that is not worked with any more', () => {
    const box = scenario({ dag: dag([list, make, use, sum, drop], { groups: shop }) });
    give(box, 'list', [1, 2, 3]);
    give(box, 'make[0]');
    const first = box.claim('use[0]');
    give(box, 'make[1]');
    box.cancel();
    expect(['drop[0]', 'drop[1]', 'drop[2]'].map((name) => box.task(name).state)).toEqual([
      'blocked',
      'ready',
      'skipped',
    ]);
    expect(box.task('use').state).toBe('expanded');
    box.report(first, 'cancelled');
    expect(box.task('use').state).toBe('cancelled');
    give(box, 'drop[0]');
    give(box, 'drop[1]');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'cancelled' });
  });

  test('each instance that was done is undone, behind what was done with it', () => {
    const undos = [task('list:undo', [], { undoes: 0 }), task('work:undo', [], { group: 0, undoes: 1 })];
    const box = scenario({ dag: dag([list, work, ...undos], { groups, compensate: true }) });
    give(box, 'list', [1, 2, 3]);
    give(box, 'work[0]');
    box.report(box.claim('work[1]'), 'permanent');
    give(box, 'work[2]');
    expect(box.run()).toMatchObject({ phase: 'closing', outcome: 'failed' });
    expect(box.task('work:undo[1]').state).toBe('skipped');
    expect(box.task('list:undo').state).toBe('blocked');
    give(box, 'work:undo[0]');
    box.killOwner();
    give(box, 'work:undo[2]');
    give(box, 'list:undo');
    expect(box.run().phase).toBe('ended');
  });

  test('hooks run for each instance, and are told which one it is', () => {
    const on = (name: string, on: 'failure' | 'retry') => task(name, [], { group: 0, hook: { of: 1, on } });
    const tried = task('work', [], { group: 0, retry: { maxAttempts: 2, baseMs: 1_000 } });
    const spec = dag([list, tried, on('told', 'failure'), on('again', 'retry')], { groups });
    const box = scenario({ dag: spec });
    give(box, 'list', [1, 2]);
    give(box, 'work[0]');
    box.report(box.claim('work[1]'), 'transient');
    expect(['again[0]', 'again[1]', 'told[0]'].map((name) => box.task(name).state)).toEqual([
      'skipped',
      'ready',
      'skipped',
    ]);
    box.report(box.claim('again[1]'), 'succeeded');
    box.advance('3s');
    box.report(box.claim('work[1]'), 'transient');
    box.report(box.claim('told[1]'), 'succeeded');
    const hookEvent = box.effects.flatMap((effect) =>
      effect.kind === 'SendAssignment' && effect.hookEvent ? [effect.hookEvent] : [],
    );
    expect(hookEvent).toMatchObject([
      { on: 'retry', taskName: 'work[1]', attemptNo: 1 },
      { on: 'failure', taskName: 'work[1]', attemptNo: 2, outcome: 'failed' },
    ]);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('a slow instance has its own hook for that run', () => {
    const slow = task('slow', [], { group: 0, hook: { of: 1, on: 'slow' } });
    const timed = task('work', [], { group: 0, softTimeoutMs: 1_000 });
    const box = scenario({ dag: dag([list, timed, slow], { groups }) });
    give(box, 'list', [1, 2]);
    give(box, 'work[0]');
    const second = box.claim('work[1]');
    box.advance('2s');
    box.killOwner();
    box.report(box.claim('slow[1]'), 'succeeded');
    box.report(second, 'succeeded');
    expect(['slow[0]', 'slow[1]', 'slow'].map((name) => box.task(name).state)).toEqual([
      'skipped',
      'succeeded',
      'succeeded',
    ]);
  });

  test('one that is retried has its hooks run again, and what was taken down for it made again', () => {
    const told = task('told', [], { group: 0, hook: { of: 2, on: 'after' } });
    const box = scenario({ dag: dag([list, make, use, sum, drop, told], { groups: shop }) });
    give(box, 'list', [1, 2]);
    give(box, 'make[0]');
    const failed = box.taskNo('use[0]');
    box.report(box.claim('use[0]'), 'permanent');
    for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) box.report(next, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
    expect(box.retry(failed)).toMatchObject({ ok: true });
    expect(['make[0]', 'drop[0]', 'told[0]', 'drop[1]'].map((name) => box.task(name).state)).toEqual([
      'ready',
      'blocked',
      'blocked',
      'succeeded',
    ]);
    for (let next = box.tryClaim(); next !== null; next = box.tryClaim()) box.report(next, 'succeeded');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('nothing is left to do for a map without items, or one that fails', () => {
    for (const [output, state] of [
      ['[]', 'succeeded'],
      ['7', 'failed'],
    ] as const) {
      const told = task('told', [], { group: 0, hook: { of: 2, on: 'after' } });
      const box = scenario({ dag: dag([list, make, use, sum, drop, told], { groups: shop }) });
      box.report(box.claim('list'), 'succeeded', { output });
      if (state === 'succeeded') give(box, 'sum');
      expect(['drop', 'told'].map((name) => box.task(name).state)).toEqual(['skipped', 'skipped']);
      expect(box.run()).toMatchObject({ phase: 'ended', outcome: state });
    }
  });

  test('with an instance that is retried goes the whole map, when what it ran over was undone', () => {
    const undo = task('list:undo', [], { undoes: 0 });
    const box = scenario({ dag: dag([list, work, undo], { groups, compensate: true }) });
    give(box, 'list', [1, 2]);
    give(box, 'work[0]');
    const failed = box.taskNo('work[1]');
    box.report(box.claim('work[1]'), 'permanent');
    give(box, 'list:undo');
    expect(box.retry(failed)).toMatchObject({ ok: true });
    expect(box.task('work').state).toBe('blocked');
    give(box, 'list', [3]);
    give(box, 'work[0]');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('what a mark decides of a map is heard by what closes it', () => {
    const told = task('told', [], { group: 0, hook: { of: 1, on: 'after' } });
    const box = scenario({ dag: dag([list, work, told], { groups }) });
    expect(box.mark('list', 'failed')).toMatchObject({ ok: true });
    expect(['work', 'told'].map((name) => box.task(name).state)).toEqual(['upstream_failed', 'skipped']);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });
});

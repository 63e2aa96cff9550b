import { describe, expect, test } from 'vitest';
import type { TaskNo } from '../../model/ids.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';

/** list → work (for each item) → sum */
const fanned = dag([task('list', [], { facts: [[]] }), task('work', [], { group: 0 }), task('sum', [1])], {
  groups: [{ name: 'work', parent: null, map: { over: [{ from: 'task', task: 0, fact: 0 }], mode: 'product' } }],
});
const give = (box: Scenario, name: string, output: unknown) =>
  box.report(box.claim(name), 'succeeded', { output: JSON.stringify(output) });

function ended(): Scenario {
  const box = scenario({ dag: fanned });
  give(box, 'list', ['a', 'b']);
  for (const name of ['work[0]', 'work[1]', 'sum']) give(box, name, 1);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  return box;
}

describe.each(['live', 'loaded'] as const)('of a run with a map, %s', (how) => {
  const after = (box: Scenario) => (how === 'loaded' ? box.killOwner() : box);

  test('one instance is cleared, and what needs the whole (I37)', () => {
    const box = after(ended());
    // The instances have the numbers after those of the definition.
    const select = { tasks: [4 as TaskNo], states: null, downstream: true, upstream: false };
    const how = { tenantId: TENANT, force: false, dryRun: false, actor: box.actor };
    expect(box.feed({ kind: 'ClearTasks', runId: box.lastRun(), select, ...how })).toMatchObject({
      reopened: true,
      tasks: [{ name: 'work' }, { name: 'sum' }, { name: 'work', before: 'succeeded', after: 'ready' }],
    });
    expect(['work[0]', 'work[1]', 'sum'].map((name) => box.task(name).state)).toEqual([
      'succeeded',
      'ready',
      'blocked',
    ]);
    give(after(box), 'work[1]', 2);
    give(box, 'sum', 3);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('what it runs over is cleared: its items are made anew, as many as there are then (I34)', () => {
    const box = after(ended());
    expect(box.clear(['list'], { downstream: true })).toMatchObject({ ok: true, reopened: true });
    expect(box.changes('MapRemoved')).toHaveLength(1);
    give(after(box), 'list', ['x', 'y', 'z']);
    for (const name of ['work[0]', 'work[1]', 'work[2]', 'sum']) give(box, name, 1);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });

  test('what it runs over is marked with another list', () => {
    const box = after(ended());
    expect(box.mark('list', 'succeeded', { output: '[1]' })).toMatchObject({ ok: true, reopened: true });
    give(after(box), 'work[0]', 1);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

test('a short circuit that had shut the way is marked as open, beside a map: what it skipped is decided anew (I37)', () => {
  const tasks = [...fanned.tasks, task('gate', [], { shortCircuit: 'next', facts: [[]] }), task('behind', [3])];
  const box = scenario({ dag: { ...fanned, tasks } });
  give(box, 'list', []);
  give(box, 'sum', 1);
  give(box, 'gate', false);
  expect(box.task('behind').state).toBe('skipped');
  expect(box.mark('gate', 'succeeded', { output: '1' })).toMatchObject({ ok: true, reopened: true });
  expect(box.task('behind').state).toBe('ready');
  give(box, 'behind', 1);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test('what an inner map runs over is cleared: the map around it stays, and so does what runs in it (I34)', () => {
  const inner = { over: [{ from: 'task', task: 0, fact: 0 } as const], mode: 'product' as const };
  const groups = [
    { name: 'outer', parent: null, map: { over: [{ from: 'list', length: 2 } as const], mode: 'product' as const } },
    { name: 'inner', parent: 0, map: inner },
  ];
  const tasks = [task('list', [], { facts: [[]] }), task('side', [], { group: 0 }), task('work', [], { group: 1 })];
  const box = scenario({ dag: dag(tasks, { groups }) });
  give(box, 'list', ['a']);
  const side = box.claim('side[0]');
  expect(box.clear(['list'])).toMatchObject({ ok: true });
  expect(box.changes('MapRemoved')).toHaveLength(2);
  expect(box.report(side, 'succeeded')).toMatchObject({ ok: true });
  give(box, 'list', ['a', 'b']);
  for (const name of ['side[1]', 'work[0][0]', 'work[0][1]', 'work[1][0]', 'work[1][1]']) give(box, name, 1);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test('a map over what another map has made goes with that (I34)', () => {
  const over = (no: number) => ({ over: [{ from: 'task', task: no, fact: 0 } as const], mode: 'product' as const });
  const groups = [
    { name: 'work', parent: null, map: over(0) },
    { name: 'check', parent: null, map: over(1) },
  ];
  const facts = { facts: [[]] };
  const tasks = [task('list', [], facts), task('work', [], { group: 0, ...facts }), task('check', [], { group: 1 })];
  const box = scenario({ dag: dag(tasks, { groups }) });
  give(box, 'list', ['a', 'b']);
  for (const name of ['work[0]', 'work[1]', 'check[0]']) give(box, name, 1);
  expect(box.clear(['list'])).toMatchObject({ ok: true });
  expect(box.task('check').state).toBe('blocked');
  give(box, 'list', ['c']);
  for (const name of ['work[0]', 'check[0]']) give(box, name, 1);
  expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
});

test('an item that runs keeps its map from being made anew, unless by force', () => {
  const box = scenario({ dag: fanned });
  give(box, 'list', ['a', 'b']);
  const attempt = box.claim('work[0]');
  expect(box.clear(['list'])).toMatchObject({ ok: false, code: 'TASK_BUSY' });
  expect(box.mark('list', 'failed')).toMatchObject({ ok: false, code: 'TASK_BUSY' });
  expect(box.clear(['list'], { force: true })).toMatchObject({ ok: true });
  expect(attempt.worker.killed).toHaveLength(1);
  expect(box.report(attempt, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
  expect(box.task('work').state).toBe('blocked');
  box.cancel();
  expect(box.killOwner().run()).toMatchObject({ phase: 'ended' });
  expect(box.report(attempt, 'succeeded')).toMatchObject({ ok: false, code: 'STALE_TOKEN' });
});

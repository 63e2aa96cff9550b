import { describe, expect, test } from 'vitest';
import type { GroupSpec } from '../dag/spec.ts';
import { type Scenario, scenario } from '../scenario.ts';
import { dag, task } from '../testing/specs.ts';

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
  const before = task('first', [], { hook: { of: 1, on: 'before' } });

  test('runs once, before all of its instances', () => {
    const box = scenario({ dag: dag([list, work, before], { groups }) });
    give(box, 'list', [1, 2]);
    expect(['work[0]', 'work[1]'].map((name) => box.task(name).state)).toEqual(['blocked', 'blocked']);
    box.killOwner();
    give(box, 'first');
    box.claim('work[0]');
    box.claim('work[1]');
  });

  test('is not needed when none of them runs, and is when one does', () => {
    const never = { op: 'lt', left: { op: 'task', task: 3, fact: 0 }, right: { op: 'value', value: 2 } } as const;
    const gated = task('work', [3], { group: 0, when: { text: '…', expression: never } });
    const gate = task('gate', [0], { group: 0, facts: [['n']] });
    const box = scenario({ dag: dag([list, gated, before, gate], { groups }) });
    give(box, 'list', [1, 2]);
    const [one, two] = [box.claim('gate[0]'), box.claim('gate[1]')];
    box.report(one, 'succeeded', { output: '{"n":5}' });
    expect(box.task('work[0]').state).toBe('skipped');
    expect(box.task('first').state).toBe('blocked');
    box.report(two, 'succeeded', { output: '{"n":1}' });
    give(box, 'first');
    give(box, 'work[1]');
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
  });
});

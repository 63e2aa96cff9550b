import { describe, expect, test } from 'vitest';
import type { DagSpec, Priority } from '../../model/dag/spec.ts';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { dag, type TaskOptions, task } from '../../testing/specs.ts';

const one = (priority: Priority, options: TaskOptions = {}): DagSpec => dag([task('job', [], options)], { priority });

/** A worker with so many slots, all used by these, in this order. */
function full(priorities: readonly Priority[], options: TaskOptions = {}): Scenario {
  const box = scenario({ workers: ['w1'] });
  priorities.forEach((priority, no) => {
    box.dagId = box.deploy(one(priority, options), `${priority}-${no}`);
    box.submit();
    box.lend(box.worker(), 1, true);
    box.advance('100ms');
  });
  return box;
}

function submitCritical(box: Scenario, options: TaskOptions = {}): void {
  box.dagId = box.deploy(one('critical', options), 'urgent');
  box.submit();
}

const victims = (box: Scenario) =>
  box.worker().killed.flatMap(({ reason, claim }) => {
    const sent = box.worker().assigned.find((other) => other.claim.runId === claim.runId);
    return reason === 'preempted' ? [sent?.version.dag.name] : [];
  });

describe('a critical task into a full fleet', () => {
  test.each([
    ['low before normal', ['normal', 'low', 'normal'], ['low-1']],
    ['normal if there is no low', ['high', 'normal'], ['normal-1']],
    ['of equals the one that lost least: the youngest', ['low', 'low', 'low'], ['low-2']],
    ['never high, nor its own class', ['critical', 'high'], []],
  ] as const)('%s', (_, running, expected) => {
    const box = full(running);
    submitCritical(box);
    expect(victims(box)).toEqual(expected);
  });

  test('the victim goes back to ready, spends no retry, and the critical task gets its slot', () => {
    const box = full(['low'], { retry: { maxAttempts: 1, maxLost: 1 } });
    const [run] = box.runIds;
    submitCritical(box);
    const victim = box.attemptOf(box.worker().assigned[0]!);
    box.report(victim, 'lost', { code: 'preempted' });
    expect(box.changes('AttemptEnded')).toMatchObject([
      { outcome: 'lost', code: 'preempted', taskState: 'retrying', lostCount: 0 },
    ]);
    box.lend(box.worker(), 1, true);
    expect(box.worker().assigned.at(-1)?.version.dag.name).toBe('urgent');
    expect(box.task('job', run).state).toBe('ready');
    box.lend(box.worker(), 1, true);
    expect(box.worker().assigned.at(-1)?.claim).toMatchObject({ runId: run, attemptNo: 2 });
  });

  test('what saved a checkpoint a moment ago loses less than what began later', () => {
    const box = full(['low', 'low']);
    const { claim } = box.worker().assigned[0]!;
    box.feed({ kind: 'SaveCheckpoint', claim, workerId: box.worker().id, no: 1, value: '1' });
    submitCritical(box);
    expect(victims(box)).toEqual(['low-0']);
  });

  test('a task that opted out is left alone', () => {
    const box = full(['low'], { preemptible: false });
    submitCritical(box);
    expect(victims(box)).toEqual([]);
  });

  test('one victim for one task, however often it is looked at; told again by the next heartbeat', () => {
    const box = full(['low', 'low']);
    submitCritical(box);
    box.advance('5s', [box.worker()]);
    expect(new Set(victims(box))).toEqual(new Set(['low-1']));
    expect(victims(box).length).toBeGreaterThan(1);
  });

  test('no more than so many a minute', () => {
    const box = scenario({ workers: ['w1'], settings: { preemptionsPerMinute: 2 } });
    box.dagId = box.deploy(one('low'), 'low');
    box.submit({ count: 5 });
    box.lend(box.worker(), 5, true);
    box.dagId = box.deploy(one('critical'), 'urgent');
    box.submit({ count: 5 });
    expect(victims(box)).toHaveLength(2);
    box.advance('61s', [box.worker()]);
    expect(new Set(victims(box)).size).toBe(1);
    expect(new Set(box.worker().killed.map(({ claim }) => claim.runId)).size).toBe(4);
  });

  test('a request takes as many victims of one worker as make room for it', () => {
    const box = scenario({ workers: ['w1'] });
    const traits = { slots: 4, resources: { cpu: 3_000 }, labels: {} };
    box.lend(box.worker(), 4, true, 0, { traits, room: traits.resources });
    const placed = (cpu: number) => ({ placement: { resources: { cpu } } });
    box.dagId = box.deploy(one('low', placed(1_000)), 'low');
    box.submit({ count: 3 });
    submitCritical(box, placed(2_000));
    expect(victims(box)).toHaveLength(2);
    const other = scenario({ workers: ['w1'] });
    other.lend(other.worker(), 4, true, 0, { traits, room: traits.resources });
    other.dagId = other.deploy(one('low', placed(3_000)), 'low');
    other.submit();
    submitCritical(other, placed(4_000));
    expect(victims(other)).toEqual([]);
  });

  test('a new owner does not know of it, and takes the report of the victim for what it is (I17)', () => {
    const box = full(['low'], { retry: { maxAttempts: 1, maxLost: 1 } });
    const [run] = box.runIds;
    submitCritical(box);
    const victim = box.attemptOf(box.worker().assigned[0]!);
    box.killOwner();
    box.heartbeat();
    box.report(victim, 'lost', { code: 'preempted' });
    expect(box.task('job', run)).toMatchObject({ state: 'ready', lostCount: 0 });
  });
});

test('an attempt of a worker that is taken away runs again, and spends no retry', () => {
  const box = full(['normal'], { retry: { maxAttempts: 1, maxLost: 1 } });
  box.report(box.attemptOf(box.worker().assigned[0]!), 'lost', { code: 'evicted' });
  expect(box.task('job')).toMatchObject({ state: 'ready', attemptCount: 1, lostCount: 0 });
});

test('a task that must not run on spot workers waits for another one', () => {
  const box = scenario({ dag: one('normal', { placement: { spot: 'never' } }), workers: ['spot', 'own'] });
  box.lend(box.worker('spot'), 1, true, 0, { traits: { slots: 1, resources: {}, labels: { spot: 'true' } } });
  expect(box.worker('spot').assigned).toEqual([]);
  box.lend(box.worker('own'), 1, true, 0, { traits: { slots: 1, resources: {}, labels: {} } });
  expect(box.worker('own').assigned).toHaveLength(1);
});

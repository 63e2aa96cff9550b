import { describe, expect, test } from 'vitest';
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { RunId } from '../../model/ids.ts';
import { scenario } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

const DONE = { ok: true, kind: 'done' };

describe.each(['live', 'loaded'] as const)('the priority of a run that waits, %s', (how) => {
  const settle = (box: ReturnType<typeof scenario>) => (how === 'loaded' ? box.killOwner() : box);

  test('is changed: it goes before others, or after them (I49)', () => {
    const box = scenario({ dag: job(), runs: 4 });
    const [first, second, third, fourth] = box.runIds as [RunId, RunId, RunId, RunId];
    expect(box.setPriority('high', third)).toEqual(DONE);
    expect(box.setPriority('high', third)).toEqual(DONE);
    expect(box.setPriority('low', first)).toEqual(DONE);
    expect(box.changes('PrioritySet')).toMatchObject([
      { runId: third, before: 'normal', priority: 'high' },
      { runId: first, before: 'normal', priority: 'low' },
    ]);
    settle(box);
    const order = box.runIds.map(() => box.claim('job').claim.runId);
    expect(order).toEqual([third, second, fourth, first]);
    expect(box.tryClaim()).toBeNull();
  });

  test('is changed back and forth: each task is claimed once', () => {
    const box = scenario({ dag: dag([task('a'), task('b')]), runs: 2 });
    for (let i = 0; i < 200; i++) box.setPriority(PRIORITIES[i % PRIORITIES.length]!, box.runIds[1]);
    box.setPriority('high', box.runIds[1]);
    box.setPriority('normal', box.runIds[1]);
    settle(box);
    const order = ['a', 'b', 'a', 'b'].map((name) => box.claim(name).claim.runId);
    expect(order).toEqual([box.runIds[0], box.runIds[0], box.runIds[1], box.runIds[1]]);
    expect(box.tryClaim()).toBeNull();
  });

  test('tasks that are held or not ready yet follow', () => {
    const box = scenario({ dag: dag([task('a'), task('b', [0]), task('c')]), runs: 2 });
    const [first, second] = box.runIds as [RunId, RunId];
    const running = box.claim('a');
    box.setPaused('c', true, first);
    box.setPriority('critical', second);
    box.setPriority('high', first);
    settle(box).heartbeat();
    expect(box.claim('a').claim.runId).toBe(second);
    expect(box.claim('c').claim.runId).toBe(second);
    expect(box.tryClaim()).toBeNull();
    box.report(running, 'succeeded');
    box.setPaused('c', false, first);
    expect(box.claim('b').claim.runId).toBe(first);
    expect(box.claim('c').claim.runId).toBe(first);
  });

  test('of a run that waits to be admitted counts once it is', () => {
    const box = scenario({ dag: job({ maxActiveRuns: 1 }), runs: 2 });
    const other = box.deploy(job(), 'other');
    box.submit({ dagId: other });
    box.setPriority('high', box.runIds[1]);
    settle(box);
    box.report(box.claim('job'), 'succeeded');
    expect(box.claim('job').claim.runId).toBe(box.runIds[1]);
  });
});

test('limits that tasks wait for learn of it: the raised one gets the next slot', () => {
  const box = scenario({ dag: dag([task('job', [], { maxActive: 1 })]), runs: 3 });
  const running = box.claim('job');
  expect(box.tryClaim()).toBeNull();
  box.setPriority('high', box.runIds[2]);
  expect(box.tryClaim()).toBeNull();
  box.report(running, 'succeeded');
  expect(box.claim('job').claim.runId).toBe(box.runIds[2]);
});

test('where each run has lanes of its own', () => {
  const box = scenario({ dag: dag([task('a'), task('b')], { maxActiveTasksPerRun: 1 }), runs: 2 });
  box.setPriority('high', box.runIds[1]);
  expect([box.claim('a'), box.claim('a')].map(({ claim }) => claim.runId)).toEqual([box.runIds[1], box.runIds[0]]);
  expect(box.tryClaim()).toBeNull();
});

test('what has ended is refused', () => {
  const box = scenario({ dag: job() });
  box.report(box.claim('job'), 'succeeded');
  expect(box.setPriority('high')).toMatchObject({ ok: false, code: 'RUN_ENDED' });
});

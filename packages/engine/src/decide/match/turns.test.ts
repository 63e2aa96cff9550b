import { describe, expect, test } from 'vitest';
import type { DagId } from '../../model/ids.ts';
import { waitOf } from '../../tables/queue/wait.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

const names = (box: Scenario, count: number) =>
  Array.from({ length: count }, () => {
    const attempt = box.tryClaim();
    if (attempt === null) return null;
    const run = box.state.runs.find(attempt.claim.runId);
    return box.state.runs.versionOf(run).dag.name;
  });

/** Dags of one tenant with so many runs each, in this order. */
function setUp(runs: Readonly<Record<string, number>>) {
  const box = scenario({ audit: false });
  const dags: Record<string, DagId> = {};
  for (const [name, count] of Object.entries(runs)) {
    dags[name] = box.deploy(job(), name);
    if (count > 0) box.submit({ dagId: dags[name], count });
  }
  return { box, dags };
}

describe('dags of a tenant take turns within a class', () => {
  test('thousands of ready tasks of one delay another by one claim each (I29)', () => {
    const { box } = setUp({ large: 1_000, small: 3 });
    expect(names(box, 8)).toEqual(['large', 'small', 'large', 'small', 'large', 'small', 'large', 'large']);
  });

  test('a dag that had nothing waiting saves nothing up, and waits for one claim', () => {
    const { box, dags } = setUp({ large: 1_000, small: 0 });
    names(box, 50);
    box.submit({ dagId: dags['small']!, count: 3 });
    expect(names(box, 6).filter((name) => name === 'small')).toHaveLength(3);
    box.submit({ dagId: dags['small']!, count: 20 });
    expect(names(box, 10).filter((name) => name === 'small')).toHaveLength(5);
  });

  test('of one dag the oldest run goes first, and a task that comes back keeps its place (I26)', () => {
    const box = scenario({ dag: job(), runs: 3 });
    const first = box.claim('job');
    box.refuse(first);
    expect(box.tryClaim()?.claim.runId).toBe(first.claim.runId);
    expect(box.tryClaim()?.claim.runId).toBe(box.runIds[1]);
  });

  test('all lanes of a dag have one turn: limits of its tasks give it no more', () => {
    const { box } = setUp({ small: 6 });
    const tasks = ['a', 'b', 'c'].map((name) => task(name, [], { maxActive: 100 }));
    const many = box.deploy(dag(tasks), 'many');
    box.submit({ dagId: many, count: 10 });
    expect(names(box, 8).filter((name) => name === 'small')).toHaveLength(4);
  });

  test('over queues and requests that one worker serves', () => {
    const box = scenario({ audit: false, workers: { w1: ['default', 'other'] } });
    const large = box.deploy(dag([task('work', [], { queue: 'other' })]), 'large');
    box.submit({ dagId: large, count: 100 });
    const small = box.deploy(job(), 'small');
    box.submit({ dagId: small, count: 2 });
    expect(names(box, 4).filter((name) => name === 'small')).toHaveLength(2);
  });

  test('a higher priority goes first all the same (I49)', () => {
    const { box, dags } = setUp({ large: 10, small: 0 });
    box.submit({ dagId: dags['small']!, count: 3, priority: 'high' });
    expect(names(box, 3)).toEqual(['small', 'small', 'small']);
  });

  test('what holds one dag back holds back no other, and it takes its turn when it is let go (I47)', () => {
    const box = scenario({ audit: false });
    const limited = box.deploy(job({ maxActiveTasks: 1 }), 'limited');
    const free = box.deploy(job(), 'free');
    box.submit({ dagId: limited, count: 5 });
    box.submit({ dagId: free, count: 5 });
    const first = box.tryClaim()!;
    expect(names(box, 3)).toEqual(['free', 'free', 'free']);
    box.report(first, 'succeeded');
    expect(names(box, 1)).toEqual(['limited']);
  });

  test('a new owner lets all of them begin again', () => {
    const { box } = setUp({ large: 100, small: 2 });
    names(box, 2);
    box.killOwner().advance('6s');
    expect(names(box, 3)).toContain('small');
  });
});

test('the position of a task is what the turns of dags make it (I75)', () => {
  const { box, dags } = setUp({ large: 100, small: 2 });
  const aheadOf = (runId: (typeof box.runIds)[number]) =>
    waitOf(box.state, {
      ...{ tenantId: TENANT, queue: 'default' as never, runId, taskNo: 0 as never, priority: 'normal' },
      isOfBackfill: false,
    }).ahead;
  const [first, second] = box.runIds.slice(-2);
  expect([aheadOf(first!), aheadOf(second!)]).toEqual([1, 3]);
  expect(aheadOf(box.runIds[5]!)).toBe(7);
  expect(dags).toBeDefined();
  for (let left = 3; left > 0; left--) {
    expect(aheadOf(second!)).toBe(left);
    names(box, 1);
  }
  expect(names(box, 1)).toEqual(['small']);
});

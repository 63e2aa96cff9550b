import { describe, expect, test } from 'vitest';
import { Graph } from '../../model/dag/graph.ts';
import { reportOf, type Scenario, scenario } from '../../testing/scenario.ts';
import { chain, fan } from '../../testing/specs.ts';

/** Runs everything in batches of 500; how many steps and changes it took. */
function finish(box: Scenario): { steps: number; changes: number } {
  const worker = box.worker();
  let [steps, changes] = [0, 0];
  box.node.onDecided = (result) => {
    steps += 1;
    changes += result.changes.length;
  };
  box.lend(worker, 500, true);
  while (worker.holds.length > 0) {
    const done = worker.holds.splice(0, 500);
    const { gateway, id: workerId, tenants, queues } = worker;
    box.node.decide([
      ...done.map((claim) => reportOf({ claim, worker, task: '' }, 'succeeded')),
      { kind: 'LendSlots', gateway, workerId, tenants, queues, count: done.length, standing: true, agoMs: 0 },
    ]);
  }
  return { steps, changes };
}

describe('a dag of 10,000 tasks', () => {
  test.each([
    ['fans out and in', fan, 9_998],
    ['is one chain', (length: number) => chain(...Array.from({ length }, (_, i) => `t${i}`)), 10_000],
  ] as const)('that %s is finished with two changes a task and its own end', (_, make, size) => {
    const box = scenario({ dag: make(size), audit: false });
    const { changes } = finish(box);
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'succeeded' });
    expect(changes).toBe(2 * 10_000 + 2);
  });

  test('fails as a whole with one change: what never runs is implied (D4)', () => {
    const box = scenario({ dag: fan(9_998), audit: false });
    const before = box.node.journal.length;
    box.report(box.claim('first'), 'permanent');
    expect(box.node.journal.length - before).toBe(5); // claimed, its dead letter, ended, closing, ended
    expect(box.run()).toMatchObject({ phase: 'ended', outcome: 'failed' });
  });

  test('is cancelled with one change, and loaded again as it was (I19)', () => {
    const box = scenario({ dag: fan(9_998) });
    box.report(box.claim('first'), 'succeeded');
    box.claim('middle-1');
    box.killOwner();
    expect(box.task('middle-9998').state).toBe('ready');
    const before = box.node.journal.length;
    box.cancel();
    expect(box.node.journal.length - before).toBe(1);
  });
});

test('the graph counts each edge once, in both directions', () => {
  const graph = new Graph({ tasks: [{ needs: [] }, { needs: [0] }, { needs: [0] }, { needs: [1, 2, 0] }] });
  expect([...graph.roots]).toEqual([0]);
  expect([...graph.upstreamCount]).toEqual([0, 1, 1, 3]);
  const below = (no: number) => [...graph.downstream.slice(graph.downstreamStart[no], graph.downstreamStart[no + 1])];
  expect([0, 1, 2, 3].map(below)).toEqual([[1, 2, 3], [3], [3], []]);
});

import { expect, test } from 'vitest';
import { scenario, TENANT } from '../../testing/scenario.ts';
import { dag, task as taskOf } from '../../testing/specs.ts';
import { queueLoads } from './queue-loads.ts';

const retry = { maxAttempts: 1, minMs: 0, baseMs: 0, factor: 1, maxMs: 0, maxLost: 1 };
const task = (name: string, queue: string) => ({
  ...{ name, handler: name, queue: queue as never, needs: [], retry, timeoutMs: null },
});

test('waiting, held and running tasks are counted by queue, with the age of the oldest run', () => {
  const box = scenario({ runs: 0 });
  const limits = { maxActiveRuns: null, maxActiveTasks: 2, schedule: null };
  const tasks = [task('a', 'default'), task('b', 'default'), task('c', 'gpu')];
  box.dagId = box.deploy({ tasks, priority: 'normal', ...limits });
  const firstAt = box.state.now;
  box.submit();
  box.advance('1s');
  box.submit();
  const of = (queue: string) => queueLoads(box.state).find((load) => load.queue === queue);
  expect(of('default')).toMatchObject({ waiting: 4, held: 0, running: 0 });
  expect(of('gpu')).toMatchObject({ waiting: 2, held: 0, running: 0 });
  expect(of('gpu')!.oldestAt! - firstAt).toBeLessThan(1_000);
  const first = box.claim('a');
  // The limit of the dag is reached by the second claim: what is left would not start on another worker.
  box.claim('b');
  expect(of('default')).toMatchObject({ waiting: 2, held: 2, running: 2 });
  expect(of('gpu')).toMatchObject({ waiting: 2, held: 2, running: 0 });
  box.report(first, 'succeeded');
  expect(of('default')).toMatchObject({ waiting: 2, held: 0, running: 1 });
});

test('what is frozen wants no worker', () => {
  const box = scenario({ dag: dag([taskOf('a')]), runs: 2 });
  const loads = () => queueLoads(box.state).map(({ waiting, held }) => [waiting, held]);
  expect(loads()).toEqual([[2, 0]]);
  box.feed({ kind: 'SetFrozen', frozen: [{ tenantId: TENANT, kind: 'cluster', name: '' }] });
  expect(loads()).toEqual([[2, 2]]);
});

test('a queue without tasks is not listed', () => {
  expect(queueLoads(scenario({ runs: 0 }).state)).toEqual([]);
});

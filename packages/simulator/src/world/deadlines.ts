/** What tasks and runs of a dag may take, and which failures are worth another attempt, drawn. */
import { type DagSpec, FAILURE_CLASSES, type RetryPolicy, type TaskSpec } from '@signalbox/engine';
import type { Chance } from './chance.ts';

export function planDeadlines(chance: Chance, spec: DagSpec): DagSpec {
  return {
    ...spec,
    tasks: spec.tasks.map((task) => planTask(chance, task)),
    ...(chance.happens(0.3) && { timeoutMs: chance.int(8_000, 40_000) }),
    ...(chance.happens(0.3) && { softTimeoutMs: chance.int(500, 6_000) }),
  };
}

function planTask(chance: Chance, task: TaskSpec): TaskSpec {
  return {
    ...task,
    retry: planRetry(chance, task.retry),
    ...(chance.happens(0.3) && { queueTimeoutMs: chance.int(1_000, 15_000) }),
    ...(chance.happens(0.3) && { stuckMs: chance.int(1_500, 8_000) }),
    ...(chance.happens(0.3) && { totalTimeoutMs: chance.int(3_000, 20_000) }),
    ...(chance.happens(0.3) && { softTimeoutMs: chance.int(100, 3_000) }),
    ...(chance.happens(0.3) && { memoryBytes: 1_000, onResource: { factor: 2, maxBytes: 3_000 } }),
  };
}

function planRetry(chance: Chance, retry: RetryPolicy): RetryPolicy {
  const pattern = (matches: readonly string[]) => [{ match: chance.pick(matches), retry: chance.happens(0.5) }];
  return {
    ...retry,
    ...(chance.happens(0.3) && { on: FAILURE_CLASSES.filter(() => chance.happens(0.6)) }),
    ...(chance.happens(0.3) && { codes: pattern(['http:429', 'exit:*', 'timeout:*', 'stuck:progress']) }),
    ...(chance.happens(0.3) && { errors: pattern(['row * went', 'flaky', 'took longer']) }),
    ...(chance.happens(0.3) && { budgets: { [chance.pick(FAILURE_CLASSES)]: chance.int(1, 2) } }),
  };
}

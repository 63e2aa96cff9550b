/** What the definition says about a task. */
import type { TaskSpecView } from '@signalbox/protocol';
import { shownAmount, shownBytes } from '@signalbox/protocol/words';
import { span } from '../../parts/format.ts';
import { Json } from '../../parts/json.tsx';
import { Card } from '../../parts/page.tsx';

const PAST = {
  task: 'waits until the same task of the run before has succeeded',
  downstream: 'waits until the same task of the run before, and the tasks directly downstream of it, have succeeded',
} as const;

const RULES: Readonly<Record<TaskSpecView['rule'], string>> = {
  all_success: 'all that it needs have succeeded',
  all_failed: 'all that it needs have failed',
  all_done: 'all that it needs have ended, however',
  all_done_min_one_success: 'all that it needs have ended, and one has succeeded',
  all_done_setup_success: 'all that it needs have ended, and what sets it up has succeeded',
  one_success: 'one of those that it needs has succeeded',
  one_failed: 'one of those that it needs has failed',
  one_done: 'one of those that it needs has ended',
  none_failed: 'all that it needs have ended, and none has failed',
  none_failed_min_one_success: 'none that it needs has failed, and one has succeeded',
  none_skipped: 'all that it needs have ended, and none was skipped',
  all_skipped: 'all that it needs were skipped',
  always: 'the run begins',
};

const spanOf = (ms: number | null | undefined): string | null => (ms == null ? null : span(ms));

function memoryText({ memoryBytes, onResource }: TaskSpecView['limits']): string | null {
  if (memoryBytes === undefined) return null;
  if (onResource === undefined) return shownBytes(memoryBytes);
  return `${shownBytes(memoryBytes)}; after it ran out, ×${onResource.factor} up to ${shownBytes(onResource.maxBytes)}`;
}

/** `2 cpu, 4 GiB of memory`. */
function takenText({ resources = {}, exclusive }: TaskSpecView['limits']): string | null {
  if (exclusive === true) return 'all of it: nothing runs beside it';
  return joined(Object.entries(resources).map(([name, amount]) => shownAmount(name, amount)));
}

function gangText({ gang }: TaskSpecView['limits']): string | null {
  if (gang === undefined) return null;
  return `${gang.size} that start together, ${gang.share === true ? 'several of them on one worker' : 'each on a worker of its own'}`;
}

function whereText({ labels = {}, spot }: TaskSpecView['limits']): string | null {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return joined([...wanted, ...(spot === 'never' ? ['that are not spot workers'] : [])]);
}

const joined = (words: readonly string[]): string | null => (words.length === 0 ? null : words.join(', '));

export function TaskSpec({ task, title = task.name }: { readonly task: TaskSpecView; readonly title?: string }) {
  const { retries } = task;
  const facts: readonly (readonly [string, string | null])[] = [
    ['Kind', task.kind],
    ['Handler', task.handler],
    ['Queue', task.queue],
    ['Needs', task.needs.length === 0 ? null : task.needs.join(', ')],
    ['Starts when', task.needs.length === 0 && task.rule === 'all_success' ? null : RULES[task.rule]],
    ['Condition', task.when],
    ['Depends on the past', task.past === null ? null : PAST[task.past]],
    ['Group', task.group],
    ['Role', task.role === 'task' ? null : task.role],
    ['Runs the DAG', task.child?.dag ?? null],
    ['Pool', task.limits.pool === undefined ? null : `${task.limits.pool.slots} of ${task.limits.pool.name}`],
    ['Gang', gangText(task.limits)],
    ['Takes of its worker', takenText(task.limits)],
    ['Only on workers', whereText(task.limits)],
    ['At a time, over all runs', task.limits.maxActive === undefined ? null : String(task.limits.maxActive)],
    ['Timeout', spanOf(task.timeoutMs)],
    ['Memory', memoryText(task.limits)],
    ['In the queue at most', spanOf(task.limits.queueTimeoutMs)],
    ['All attempts together', spanOf(task.limits.totalTimeoutMs)],
    ['Counts as slow after', spanOf(task.limits.softTimeoutMs)],
    ['Counts as stuck without progress for', spanOf(task.limits.stuckMs)],
    [
      'Attempts',
      retries.maxAttempts === 1
        ? '1: it is not retried'
        : `${retries.maxAttempts}, first backoff ${span(retries.baseMs)}, then ×${retries.factor} up to ${span(retries.maxMs)}`,
    ],
  ];
  return (
    <Card title={title}>
      <div className="stack">
        <dl className="pairs">
          {facts.map(([name, value]) =>
            value === null ? null : (
              <div key={name} className="contents">
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
          )}
        </dl>
        {task.work !== null && <Json value={task.work} />}
      </div>
    </Card>
  );
}

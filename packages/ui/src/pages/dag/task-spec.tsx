/** What the definition says about a task. */
import type { TaskSpecView } from '@signalbox/protocol';
import { span } from '../../parts/format.ts';
import { Json } from '../../parts/json.tsx';
import { Card } from '../../parts/page.tsx';

export function TaskSpec({ task, title = task.name }: { readonly task: TaskSpecView; readonly title?: string }) {
  const { retries } = task;
  const facts: readonly (readonly [string, string | null])[] = [
    ['Kind', task.kind],
    ['Handler', task.handler],
    ['Queue', task.queue],
    ['Needs', task.needs.length === 0 ? null : task.needs.join(', ')],
    ['Rule', task.rule],
    ['Condition', task.when],
    ['Group', task.group],
    ['Role', task.role === 'task' ? null : task.role],
    ['Runs the DAG', task.child?.dag ?? null],
    ['Timeout', task.timeoutMs === null ? null : span(task.timeoutMs)],
    [
      'Attempts',
      `${retries.maxAttempts}, first backoff ${span(retries.baseMs)}, then ×${retries.factor} up to ${span(retries.maxMs)}`,
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

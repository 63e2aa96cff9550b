/** What changed between two versions of a dag, in words. */
import type { TaskSpecView, VersionView } from '@signalbox/protocol';
import { bytes, span } from '../../parts/format.ts';

export interface Difference {
  /** A task, or the dag itself. */
  readonly subject: string;
  readonly text: string;
}

const DAG_FIELDS: readonly (readonly [keyof VersionView, string])[] = [
  ['priority', 'priority'],
  ['maxActiveRuns', 'most active runs'],
  ['maxActiveTasks', 'most active tasks'],
  ['maxActiveTasksPerRun', 'most active tasks of a run'],
  ['concurrency', 'runs by key'],
  ['schedule', 'schedule'],
  ['description', 'description'],
  ['tags', 'tags'],
  ['owner', 'owner'],
  ['event', 'event'],
  ['triggers', 'triggers'],
  ['onFailure', 'on failure'],
  ['maxMapSize', 'largest map'],
  ['maxAddedTasks', 'most added tasks'],
  ['groups', 'groups'],
];

const TASK_FIELDS: readonly (readonly [keyof TaskSpecView, string])[] = [
  ['kind', 'kind'],
  ['handler', 'handler'],
  ['queue', 'queue'],
  ['rule', 'rule'],
  ['when', 'condition'],
  ['branch', 'branch'],
  ['shortCircuit', 'short circuit'],
  ['setup', 'setup'],
  ['group', 'group'],
  ['role', 'role'],
  ['past', 'depends on the past'],
  ['adds', 'may add tasks'],
  ['timeoutMs', 'timeout'],
  ['child', 'child dag'],
  ['work', 'work'],
];

const RETRY_FIELDS: readonly (readonly [keyof TaskSpecView['retries'], string])[] = [
  ['maxAttempts', 'attempts'],
  ['minMs', 'shortest backoff'],
  ['baseMs', 'first backoff'],
  ['factor', 'backoff factor'],
  ['maxMs', 'longest backoff'],
  ['maxLost', 'lost attempts'],
];

const LIMIT_FIELDS: readonly (readonly [keyof TaskSpecView['limits'], string])[] = [
  ['memoryBytes', 'memory'],
  ['onResource', 'more memory after it ran out'],
  ['maxActive', 'attempts at a time'],
  ['pool', 'pool'],
  ['queueTimeoutMs', 'time in the queue'],
  ['stuckMs', 'counts as stuck after'],
  ['totalTimeoutMs', 'time of all attempts together'],
  ['softTimeoutMs', 'counts as slow after'],
];

export function differencesOf(before: VersionView, after: VersionView): Difference[] {
  const found: Difference[] = [];
  compare(found, after.name, DAG_FIELDS, before, after);
  if (before.bundle !== after.bundle) found.push({ subject: after.name, text: 'the code of its functions changed' });
  const old = new Map(before.tasks.map((task) => [task.name, task]));
  const names = new Set(after.tasks.map(({ name }) => name));
  for (const task of after.tasks) {
    const known = old.get(task.name);
    if (known === undefined) found.push({ subject: task.name, text: 'added' });
    else compareTask(found, known, task);
  }
  for (const name of old.keys()) if (!names.has(name)) found.push({ subject: name, text: 'removed' });
  return found;
}

function compareTask(found: Difference[], before: TaskSpecView, after: TaskSpecView): void {
  const { name } = after;
  compare(found, name, TASK_FIELDS, before, after);
  compare(found, name, RETRY_FIELDS, before.retries, after.retries);
  compare(found, name, LIMIT_FIELDS, before.limits, after.limits);
  const [had, has] = [new Set(before.needs), new Set(after.needs)];
  const more = after.needs.filter((need) => !had.has(need));
  const less = before.needs.filter((need) => !has.has(need));
  if (more.length > 0) found.push({ subject: name, text: `now needs ${more.join(', ')}` });
  if (less.length > 0) found.push({ subject: name, text: `no longer needs ${less.join(', ')}` });
}

function compare<T extends object>(
  found: Difference[],
  subject: string,
  fields: readonly (readonly [keyof T, string])[],
  before: T,
  after: T,
): void {
  for (const [field, words] of fields) {
    if (JSON.stringify(before[field] ?? null) === JSON.stringify(after[field] ?? null)) continue;
    const [old, now] = [show(String(field), before[field]), show(String(field), after[field])];
    // What differs only where long values are cut is not shown twice.
    found.push({ subject, text: old === now ? `${words} changed` : `${words} ${old} → ${now}` });
  }
}

const LONGEST = 120;
function show(field: string, value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'number') {
    if (field.endsWith('Ms')) return span(value);
    return field.endsWith('Bytes') ? bytes(value) : String(value);
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

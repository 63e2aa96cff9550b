/** Why a task is in its state, in a sentence. The server explains what waits; what runs or has ended speaks for itself. */
import type { InstanceCounts, TaskView } from '@signalbox/protocol';
import { actorName, count, plural, span } from '../../parts/format.ts';
import { lookOf, rankOf } from '../../parts/states.ts';

/** `12 of 240 items failed, 228 succeeded.` */
function itemsText({ total, states }: InstanceCounts): string {
  const named = Object.entries(states)
    .filter(([, number]) => number > 0)
    .sort(([a], [b]) => rankOf(a) - rankOf(b))
    .map(
      ([state, number], at) =>
        `${count(number)}${at === 0 ? ` of ${plural(total, 'item')}` : ''} ${lookOf(state).word.toLowerCase()}`,
    );
  return total === 0 ? 'Its list had no items.' : `${named.join(', ')}.`;
}

export function sentenceOf(task: TaskView, now: number): string {
  const { state, attempt, why, marked, attempts, instances } = task;
  if (marked !== null)
    return `${actorName(marked.by)} marked it as ${state}.${task.reason === null ? '' : ` ${task.reason}`}`;
  switch (state) {
    case 'running': {
      const from = task.startedAt ?? task.claimedAt;
      const since = from === null ? '' : ` for ${span(now - Date.parse(from))}`;
      const extra = attempts.some(({ speculative, outcome }) => speculative && outcome === null)
        ? ' A speculative attempt runs beside it, because it takes long.'
        : '';
      return `Attempt ${attempt} has been running${since}.${extra}`;
    }
    case 'succeeded': {
      if (instances !== null) return itemsText(instances);
      const failed = attempts.filter(({ outcome }) => outcome !== null && outcome !== 'succeeded').length;
      const tries = failed === 0 ? '' : `, after ${plural(failed, 'attempt')} that failed`;
      return `Attempt ${attempt} succeeded${tries}.`;
    }
    case 'expanded': {
      const { total = 0, states = {} } = task.instances ?? {};
      const done = states.succeeded ?? 0;
      return (
        why?.message ??
        `It runs once for each of ${plural(total, 'item')}: ${done} have succeeded, ${states.running ?? 0} run now.`
      );
    }
    case 'cancelled':
      return task.reason ?? 'It was cancelled.';
    case 'failed':
      if (instances !== null && attempts.length === 0) return itemsText(instances);
      return (
        why?.message ??
        (attempt === 0 ? (task.reason ?? 'It failed before its first attempt.') : `Attempt ${attempt} failed.`)
      );
    case 'ready':
      return why?.message ?? 'It waits for a free slot of a worker.';
    case 'blocked':
      return why?.message ?? 'It waits for the tasks that it needs.';
    default:
      return why?.message ?? task.reason ?? `It is ${state.replaceAll('_', ' ')}.`;
  }
}

/** What the server suggests often ends with a command to type. */
export function splitSuggestion(text: string): { readonly advice: string; readonly command: string | null } {
  const at = text.indexOf(': signalbox ');
  return at < 0 ? { advice: text, command: null } : { advice: `${text.slice(0, at)}:`, command: text.slice(at + 2) };
}

/** What is said of a dag at a glance, and which dags a filter lets through. */
import type { DagView, EndedSums } from '@signalbox/protocol';

/** Of the runs that ended by themselves, how many of a hundred succeeded; null without any. */
export function successRate({ succeeded, failed }: Pick<EndedSums, 'succeeded' | 'failed'>): number | null {
  return succeeded + failed === 0 ? null : Math.round((100 * succeeded) / (succeeded + failed));
}

export type DagFilter = 'all' | 'running' | 'failed' | 'scheduled' | 'paused';

export interface Wanted {
  readonly show: string;
  readonly q: string;
  readonly tag: string | undefined;
  readonly owner: string | undefined;
}

export function passes(dag: DagView, { show, q, tag, owner }: Wanted): boolean {
  if (tag !== undefined && !dag.tags.includes(tag)) return false;
  if (owner !== undefined && dag.owner !== owner) return false;
  const text = `${dag.name} ${dag.description ?? ''} ${dag.tags.join(' ')} ${dag.owner ?? ''}`.toLowerCase();
  const words = q.toLowerCase().split(/\s+/);
  if (!words.every((word) => text.includes(word))) return false;
  switch (show) {
    case 'running':
      return dag.lastRun !== null && dag.lastRun.state !== 'ended';
    case 'failed':
      return dag.lastRun?.outcome === 'failed';
    case 'scheduled':
      return dag.schedule !== null;
    case 'paused':
      return dag.schedule?.paused === true;
    default:
      return true;
  }
}

/** All that some dag has, by name. */
export function labelsOf(dags: readonly DagView[]): { readonly tags: string[]; readonly owners: string[] } {
  const sorted = (values: Iterable<string>) => [...new Set(values)].sort((a, b) => a.localeCompare(b));
  return {
    tags: sorted(dags.flatMap(({ tags }) => tags)),
    owners: sorted(dags.flatMap(({ owner }) => (owner === null ? [] : [owner]))),
  };
}

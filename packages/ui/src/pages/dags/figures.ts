/** What the last runs of a dag say about it. */
import type { DagView } from '@signalbox/protocol';
import { median } from '../../parts/format.ts';

type Recent = DagView['recentRuns'][number];

/** Of the runs that ended by themselves, how many of a hundred succeeded; null without any. */
export function successRate(runs: readonly Recent[]): number | null {
  const decided = runs.filter(({ outcome }) => outcome === 'succeeded' || outcome === 'failed');
  if (decided.length === 0) return null;
  return Math.round((100 * decided.filter(({ outcome }) => outcome === 'succeeded').length) / decided.length);
}

/** The median of runs that succeeded. */
export function typicalMs(runs: readonly Recent[]): number | null {
  return median(
    runs.flatMap(({ outcome, createdAt, endedAt }) =>
      outcome === 'succeeded' && endedAt !== null ? [Date.parse(endedAt) - Date.parse(createdAt)] : [],
    ),
  );
}

export type DagFilter = 'all' | 'running' | 'failed' | 'scheduled' | 'paused';

export function passes(dag: DagView, filter: string | undefined, query: string): boolean {
  const text = `${dag.name} ${dag.description ?? ''}`.toLowerCase();
  if (
    !query
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  )
    return false;
  switch (filter) {
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

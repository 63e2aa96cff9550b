/**
 * The list of dags is read in two steps, so that 10,000 of them are there at once: all names, in one small answer, and of the
 * rows in sight everything else, fifty at a time.
 */
import type { DagLabels, DagNamePage, DagPage, DagStats } from '@signalbox/protocol';
import { queryOptions } from '@tanstack/react-query';
import { get, withQuery } from '../../api/client.ts';
import { STATS_DAYS } from '../../api/queries.ts';
import { ofKinds } from '../../live/digest.ts';

export interface DagFilter {
  readonly [name: string]: string | undefined;
  readonly q: string | undefined;
  readonly show: string | undefined;
  readonly tag: string | undefined;
  readonly owner: string | undefined;
}

export const NO_FILTER: DagFilter = { q: undefined, show: undefined, tag: undefined, owner: undefined };

export const CHUNK = 50;
/** Runs in the strip of a dag. */
const RECENT = 14;

/** What a run does changes which dags are shown only where the filter is about that. */
function concernOf({ show }: DagFilter) {
  if (show === 'running' || show === 'failed') return ofKinds('dag', 'run');
  return show === undefined ? ofKinds('dag') : ofKinds('dag', 'schedule');
}

export const dagNamesQuery = (filter: DagFilter) =>
  queryOptions({
    queryKey: ['dag-names', filter],
    queryFn: async ({ signal }) => (await get<DagNamePage>(withQuery('/v1/dag-names', filter), signal)).items,
    placeholderData: (known: readonly string[] | undefined) => known as string[] | undefined,
    meta: { concern: concernOf(filter) },
  });

/** The dags after that name, the first ones without. */
export const dagChunkQuery = (filter: DagFilter, after: string | undefined) =>
  queryOptions({
    queryKey: ['dag-chunk', filter, after],
    queryFn: async ({ signal }) => {
      const path = withQuery('/v1/dags', { ...filter, cursor: after, limit: CHUNK, recent: RECENT });
      const { items } = await get<DagPage>(path, signal);
      return new Map(items.map((dag) => [dag.name, dag]));
    },
    meta: { concern: ofKinds('dag', 'schedule', 'run') },
  });

export const chunkStatsQuery = (names: readonly string[]) =>
  queryOptions({
    queryKey: ['chunk-stats', names],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams([['days', String(STATS_DAYS)], ...names.map((name) => ['dag', name])]);
      const { items } = await get<DagStats>(`/v1/stats/dags?${query.toString()}`, signal);
      return new Map(items.map((sums) => [sums.dag, sums]));
    },
    meta: { concern: ofKinds('run') },
  });

export const dagLabelsQuery = () =>
  queryOptions({
    queryKey: ['dag-labels'],
    queryFn: ({ signal }) => get<DagLabels>('/v1/dag-labels', signal),
    meta: { concern: ofKinds('dag') },
  });

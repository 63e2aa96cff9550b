import { useInfiniteQuery } from '@tanstack/react-query';
import { runPagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { shortId } from '../../parts/format.ts';
import { Card, Empty, Failed, Page } from '../../parts/page.tsx';
import { RunTable } from '../../parts/run-table.tsx';

const FILTERS: readonly (readonly [string, string, { state?: string; outcome?: string }])[] = [
  ['all', 'All', {}],
  ['open', 'Running', { state: 'open' }],
  ['queued', 'Queued', { state: 'queued' }],
  ['scheduled', 'Scheduled', { state: 'scheduled' }],
  ['failed', 'Failed', { outcome: 'failed' }],
  ['succeeded', 'Succeeded', { outcome: 'succeeded' }],
  ['cancelled', 'Cancelled', { outcome: 'cancelled' }],
  ['set_aside', 'Set aside', { state: 'set_aside' }],
];

export function RunsPage() {
  return (
    <Page title="Runs">
      <RunList />
    </Page>
  );
}

/** Of one dag, or of all. The filter is in the address. */
export function RunList({ dag }: { readonly dag?: string }) {
  const [search, change] = useSearchState();
  const key = search.state ?? 'all';
  const filter = FILTERS.find(([name]) => name === key)?.[2] ?? {};
  const wanted = dag ?? (search.dag === '' ? undefined : search.dag);
  const { backfill } = search;
  const pages = useInfiniteQuery(runPagesQuery({ ...filter, dag: wanted, backfill }));
  const runs = pages.data?.pages.flatMap(({ items }) => items);
  return (
    <>
      <div className="toolbar">
        {dag === undefined && (
          <input
            type="search"
            className="search"
            placeholder="DAG, whole name  /"
            aria-label="Only runs of this DAG"
            defaultValue={search.dag ?? ''}
            onKeyDown={(event) =>
              event.key === 'Enter' && change({ dag: event.currentTarget.value.trim() || undefined })
            }
            onBlur={(event) => change({ dag: event.currentTarget.value.trim() || undefined })}
          />
        )}
        <div className="segmented" role="group" aria-label="Which runs">
          {FILTERS.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={key === name}
              onClick={() => change({ state: name === 'all' ? undefined : name })}
            >
              {label}
            </button>
          ))}
        </div>
        {backfill !== undefined && (
          <button type="button" className="button" onClick={() => change({ backfill: undefined })}>
            Runs of backfill {shortId(backfill)} ✕
          </button>
        )}
      </div>
      <Card flush>
        {runs === undefined ? (
          pages.error === null ? (
            <div className="loading">Loading …</div>
          ) : (
            <Failed error={pages.error} />
          )
        ) : runs.length === 0 && !pages.hasNextPage ? (
          <Empty title="No runs." />
        ) : (
          <RunTable runs={runs} withDag={dag === undefined} />
        )}
        {pages.hasNextPage && (
          <div className="card-foot">
            <button
              type="button"
              className="button small"
              disabled={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              Older runs
            </button>
          </div>
        )}
      </Card>
    </>
  );
}

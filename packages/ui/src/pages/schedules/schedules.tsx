/** All schedules, of all dags. */
import type { SchedulePage } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { schedulePagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { Card, Empty, Failed, Page } from '../../parts/page.tsx';
import { ScheduleTable } from './schedule-table.tsx';

const FILTERS = [
  ['all', 'All', {}],
  ['active', 'Active', { paused: 'false' }],
  ['paused', 'Paused', { paused: 'true' }],
  ['added', 'Added here', { origin: 'api' }],
] as const;

export function SchedulesPage() {
  const [{ show = 'all', dag }, change] = useSearchState();
  const filter = FILTERS.find(([key]) => key === show)?.[2] ?? {};
  const pages = useInfiniteQuery(schedulePagesQuery({ ...filter, dag }));
  const items = pages.data?.pages.flatMap(({ items: list }: SchedulePage) => list);
  return (
    <Page title="Schedules" sub="A schedule creates runs of its DAG at planned times.">
      <div className="toolbar">
        <input
          type="search"
          className="search"
          placeholder="DAG, whole name  /"
          aria-label="Only schedules of this DAG"
          defaultValue={dag ?? ''}
          onKeyDown={(event) => event.key === 'Enter' && change({ dag: event.currentTarget.value.trim() || undefined })}
          onBlur={(event) => change({ dag: event.currentTarget.value.trim() || undefined })}
        />
        <div className="segmented" role="group" aria-label="Which schedules">
          {FILTERS.map(([key, label]) => (
            <button
              key={key}
              type="button"
              aria-pressed={show === key}
              onClick={() => change({ show: key === 'all' ? undefined : key })}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
      <Card flush>
        {items === undefined ? (
          pages.error === null ? (
            <div className="loading">Loading …</div>
          ) : (
            <Failed error={pages.error} />
          )
        ) : items.length === 0 ? (
          <Empty title={show === 'all' && dag === undefined ? 'Nothing is scheduled.' : 'No schedule matches.'}>
            <span>
              Open a <Link to="/dags">DAG</Link> and create a schedule, or give its definition a <code>schedule</code>.
            </span>
          </Empty>
        ) : (
          <ScheduleTable schedules={items} withDag />
        )}
        {pages.hasNextPage && (
          <div className="card-foot">
            <button
              type="button"
              className="button small"
              disabled={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              More schedules
            </button>
          </div>
        )}
      </Card>
    </Page>
  );
}

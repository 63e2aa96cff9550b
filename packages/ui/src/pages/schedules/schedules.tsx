/** All schedules, of all dags. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { schedulePagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { DagFilter, ShowFilter, useShown } from '../../parts/filters.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { ScheduleTable } from './schedule-table.tsx';

const FILTERS = [
  ['all', 'All', {}],
  ['active', 'Active', { paused: 'false' }],
  ['paused', 'Paused', { paused: 'true' }],
  ['added', 'Added here', { origin: 'api' }],
] as const;

export function SchedulesPage() {
  const [{ dag }] = useSearchState();
  const show = useShown('show', FILTERS);
  const filter = FILTERS.find(([key]) => key === show)?.[2] ?? {};
  const pages = useInfiniteQuery(schedulePagesQuery({ ...filter, dag }));
  return (
    <Page title="Schedules" sub="A schedule creates runs of its DAG at planned times.">
      <div className="toolbar">
        <DagFilter label="Only schedules of this DAG" />
        <ShowFilter name="show" label="Which schedules" choices={FILTERS} />
      </div>
      <Card flush>
        <Paged
          query={pages}
          more="More schedules"
          empty={
            <Empty title={show === 'all' && dag === undefined ? 'Nothing is scheduled.' : 'No schedule matches.'}>
              <span>
                Open a <Link to="/dags">DAG</Link> and create a schedule, or give its definition a <code>schedule</code>
                .
              </span>
            </Empty>
          }
        >
          {(items) => <ScheduleTable schedules={items} withDag />}
        </Paged>
      </Card>
    </Page>
  );
}

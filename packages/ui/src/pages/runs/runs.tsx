import { useInfiniteQuery } from '@tanstack/react-query';
import { ManyRunsMenu } from '../../actions/many-runs.tsx';
import { runPagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { DagFilter, ShowFilter, useShown } from '../../parts/filters.tsx';
import { shortId } from '../../parts/format.ts';
import { Command } from '../../parts/json.tsx';
import { Card, Empty, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
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
  const key = useShown('state', FILTERS);
  const filter = FILTERS.find(([name]) => name === key)?.[2] ?? {};
  const { backfill } = search;
  const pages = useInfiniteQuery(runPagesQuery({ ...filter, dag: dag ?? search.dag, backfill }));
  const hasOpen = backfill === undefined && (key === 'all' || key === 'open' || key === 'queued');
  const hasFailed = backfill === undefined && (key === 'all' || key === 'failed');
  const isEmpty = key === 'all' && pages.data?.pages[0]?.items.length === 0;
  return (
    <>
      <div className="toolbar">
        {dag === undefined && <DagFilter label="Only runs of this DAG" />}
        <ShowFilter name="state" label="Which runs" choices={FILTERS} />
        {!isEmpty && (
          <ManyRunsMenu
            dag={dag ?? search.dag}
            state={key === 'open' || key === 'queued' ? key : ''}
            hasOpen={hasOpen}
            hasFailed={hasFailed}
          />
        )}
        {backfill !== undefined && (
          <button type="button" className="button" onClick={() => change({ backfill: undefined })}>
            Runs of backfill {shortId(backfill)} ✕
          </button>
        )}
      </div>
      <Card flush>
        <Paged
          query={pages}
          more="Older runs"
          empty={
            <Empty title={key === 'all' ? 'No runs yet.' : 'No run matches.'}>
              {key === 'all' && (
                <>
                  <span>Trigger a DAG here, or type</span>
                  <Command>{`signalbox runs trigger ${dag ?? 'hello'}`}</Command>
                </>
              )}
            </Empty>
          }
        >
          {(runs) => <RunTable runs={runs} withDag={dag === undefined} />}
        </Paged>
      </Card>
    </>
  );
}

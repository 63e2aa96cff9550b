/** The items of a mapped task: one row each, page by page. */
import type { InstanceCounts, TaskPage } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get, seg, withQuery } from '../../api/client.ts';
import { useSearchState } from '../../api/search-state.ts';
import { ofRun } from '../../live/digest.ts';
import { ErrorLine } from '../../parts/error-line.tsx';
import { count, plural } from '../../parts/format.ts';
import { Took } from '../../parts/now.tsx';
import { Card, Empty } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { State, StateIcon } from '../../parts/state.tsx';
import { lookOf, rankOf } from '../../parts/states.ts';
import { VirtualRows } from '../../parts/virtual-rows.tsx';

interface InstancesProps {
  readonly runId: string;
  readonly task: string;
  readonly counts: InstanceCounts;
}

const ROW = 34;

export function Instances({ runId, task, counts }: InstancesProps) {
  const [{ items: only }, change] = useSearchState();
  const pages = useInfiniteQuery({
    queryKey: ['instances', runId, task, only ?? ''],
    queryFn: ({ pageParam, signal }) =>
      get<TaskPage>(
        withQuery(`/v1/runs/${seg(runId)}/tasks`, { group: task, state: only, limit: 200, cursor: pageParam }),
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    meta: { concern: ofRun(runId) },
  });
  const states = Object.entries(counts.states).sort(([a], [b]) => rankOf(a) - rankOf(b));
  return (
    <Card
      title={plural(counts.total, 'item')}
      side={
        <div className="row wrap" role="group" aria-label="Only items in this state">
          {states.map(([state, number]) => (
            <button
              key={state}
              type="button"
              className={only === state ? 'button small pressed' : 'button small quiet'}
              aria-pressed={only === state}
              onClick={() => change({ items: only === state ? undefined : state })}
            >
              <StateIcon state={state} size={12} /> {lookOf(state).word} {count(number)}
            </button>
          ))}
        </div>
      }
      flush
    >
      <Paged
        query={pages}
        only={({ map }) => map.length > 0}
        more="More items"
        empty={<Empty title={only === undefined ? 'No item yet.' : 'No item is in this state.'} />}
      >
        {(rows) => (
          <VirtualRows
            count={rows.length}
            height={ROW}
            label="Items"
            head={
              <div className="instance-row head" role="row">
                <span role="columnheader">Item</span>
                <span role="columnheader">State</span>
                <span role="columnheader" className="instance-error">
                  Error
                </span>
                <span role="columnheader" className="right hide-phone">
                  Attempt
                </span>
                <span role="columnheader" className="right">
                  Took
                </span>
              </div>
            }
          >
            {(index) => <Row runId={runId} row={rows[index]} />}
          </VirtualRows>
        )}
      </Paged>
    </Card>
  );
}

function Row({ runId, row }: { readonly runId: string; readonly row: TaskPage['items'][number] | undefined }) {
  if (row === undefined) return null;
  return (
    <div className="instance-row">
      <span role="cell" className="truncate">
        <Link to="/runs/$id/tasks/$task" params={{ id: runId, task: row.name }} className="name-link">
          {row.name}
        </Link>
      </span>
      <span role="cell">
        <State state={row.state} />
      </span>
      <span role="cell" className="instance-error small">
        {row.error !== null && <ErrorLine text={row.error} />}
      </span>
      <span role="cell" className="right hide-phone">
        {row.attempt === 0 ? '–' : row.attempt}
      </span>
      <span role="cell" className="right">
        <Took from={row.startedAt ?? row.claimedAt} to={row.endedAt} />
      </span>
    </div>
  );
}

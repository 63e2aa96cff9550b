/** What became of planned times: the run, or why there is none. */
import type { WindowPage, WindowView } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { windowPagesQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { plural, shortId } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Failed } from '../../parts/page.tsx';
import { StateIcon } from '../../parts/state.tsx';

const SKIPPED: Readonly<Record<NonNullable<WindowView['skipped']>, string>> = {
  paused: 'Skipped: the schedule was paused.',
  missed: 'Skipped: no server ran at that time, and its policy skips what is missed.',
  gap: 'Skipped: a clock change removed this time.',
  overlap: 'Skipped: another run was active.',
  deadline: 'Skipped: it could not start in time.',
  deleted: 'Skipped: the DAG was deleted.',
};

interface WindowsProps {
  readonly dag: string;
  readonly schedule: string | undefined;
  readonly zone: string | undefined;
}

export function Windows({ dag, schedule, zone }: WindowsProps) {
  const [{ windows: only }, change] = useSearchState();
  const pages = useInfiniteQuery(windowPagesQuery(dag, schedule));
  const items = pages.data?.pages.flatMap(({ items: list }: WindowPage) => list);
  const shown = items?.filter(({ skipped }) => only !== 'skipped' || skipped !== null);
  return (
    <Card
      title={schedule === undefined ? 'Past firings' : `Past firings of ${schedule}`}
      side={
        <div className="segmented" role="group" aria-label="Which firings">
          {(['all', 'skipped'] as const).map((key) => (
            <button
              key={key}
              type="button"
              aria-pressed={(only ?? 'all') === key}
              onClick={() => change({ windows: key === 'all' ? undefined : key })}
            >
              {key === 'all' ? 'All' : 'Skipped'}
            </button>
          ))}
        </div>
      }
      flush
    >
      {pages.error !== null && items === undefined && <Failed error={pages.error} />}
      {shown === undefined ? (
        pages.error === null && <div className="loading">Loading …</div>
      ) : shown.length === 0 ? (
        <Empty title={only === 'skipped' ? 'None of these was skipped.' : 'It has not fired yet.'} />
      ) : (
        <div className="scroll-x">
          <table className="list">
            <thead>
              <tr>
                <th>Planned for</th>
                <th className="hide-phone">Schedule</th>
                <th>Result</th>
                <th className="hide-phone">Decided</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((window) => (
                <tr key={`${window.firesAt} ${window.wallTime ?? ''} ${window.schedule ?? ''}`}>
                  <td>
                    <Time at={window.firesAt} zone={zone} />
                    {window.count > 1 && <span className="faint"> and {plural(window.count - 1, 'more')}</span>}
                    {window.wallTime !== null && (
                      <div className="small faint">{window.wallTime} by the clock there</div>
                    )}
                  </td>
                  <td className="soft hide-phone">{window.schedule ?? <span className="faint">deleted</span>}</td>
                  <td>
                    <Result window={window} />
                  </td>
                  <td className="soft hide-phone">
                    <Ago at={window.decidedAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pages.hasNextPage && (
        <div className="card-foot">
          <button
            type="button"
            className="button small"
            disabled={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            Older firings
          </button>
        </div>
      )}
    </Card>
  );
}

function Result({ window }: { readonly window: WindowView }) {
  if (window.run !== null) {
    return (
      <>
        Run{' '}
        <Link to="/runs/$id" params={{ id: window.run }} className="mono">
          {shortId(window.run)}
        </Link>
      </>
    );
  }
  if (window.skipped === null) return <span className="faint">Its run is no longer kept.</span>;
  return (
    <span className="soft">
      <StateIcon state="skipped" size={12} /> {SKIPPED[window.skipped]}
    </span>
  );
}

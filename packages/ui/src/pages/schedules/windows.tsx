/** What became of planned times: the run, or why there is none. */
import type { WindowView } from '@signalbox/protocol';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { windowPagesQuery } from '../../api/queries.ts';
import { ShowFilter, useShown } from '../../parts/filters.tsx';
import { plural, shortId } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { StateIcon } from '../../parts/state.tsx';

const SKIPPED: Readonly<Record<NonNullable<WindowView['skipped']>, string>> = {
  paused: 'Skipped: the schedule was paused.',
  missed: 'Skipped: no server ran at that time, and its policy skips what is missed.',
  gap: 'Skipped: a clock change removed this time.',
  overlap: 'Skipped: another run was active.',
  deadline: 'Skipped: it could not start in time.',
  deleted: 'Skipped: the DAG was deleted.',
  unmet: 'Skipped: what it requires was not there in time.',
};

interface WindowsProps {
  readonly dag: string;
  readonly schedule: string | undefined;
  readonly zone: string | undefined;
}

const FILTERS = [
  ['all', 'All'],
  ['skipped', 'Skipped'],
] as const;

export function Windows({ dag, schedule, zone }: WindowsProps) {
  const only = useShown('windows', FILTERS);
  const pages = useInfiniteQuery(windowPagesQuery(dag, schedule));
  return (
    <Card
      title={schedule === undefined ? 'Past firings' : `Past firings of ${schedule}`}
      side={<ShowFilter name="windows" label="Which firings" choices={FILTERS} />}
      flush
    >
      <Paged
        query={pages}
        only={({ skipped }) => only === 'all' || skipped !== null}
        more="Older firings"
        empty={<Empty title={only === 'skipped' ? 'None of these was skipped.' : 'It has not fired yet.'} />}
      >
        {(windows) => (
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
                {windows.map((window) => (
                  <Row
                    key={`${window.firesAt} ${window.wallTime ?? ''} ${window.schedule ?? ''}`}
                    {...{ window, zone }}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
    </Card>
  );
}

function Row({ window, zone }: { readonly window: WindowView; readonly zone: string | undefined }) {
  return (
    <tr>
      <td>
        <Time at={window.firesAt} zone={zone} />
        {window.count > 1 && <span className="faint"> and {plural(window.count - 1, 'more', 'more')}</span>}
        {window.wallTime !== null && <div className="small faint">{window.wallTime} by the clock there</div>}
      </td>
      <td className="soft hide-phone">{window.schedule ?? <span className="faint">deleted</span>}</td>
      <td>
        <Result window={window} />
      </td>
      <td className="soft hide-phone">
        <Ago at={window.decidedAt} />
      </td>
    </tr>
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
        {window.skipped !== null && <span className="soft"> {SKIPPED[window.skipped]}</span>}
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

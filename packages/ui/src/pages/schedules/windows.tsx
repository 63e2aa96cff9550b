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
import { type Column, Table } from '../../parts/table.tsx';

const SKIPPED: Readonly<Record<NonNullable<WindowView['skipped']>, string>> = {
  paused: 'Skipped: the schedule was paused.',
  missed: 'Skipped: no server ran at that time, and its policy skips what is missed.',
  gap: 'Skipped: a clock change removed this time.',
  overlap: 'Skipped: another run was active.',
  deadline: 'Skipped: it could not start in time.',
  deleted: 'Skipped: the DAG was deleted.',
  unmet: 'Skipped: what it requires was not there in time.',
  quota: 'Skipped: the quota of runs of this DAG was used up.',
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
          <Table
            rows={windows}
            keyOf={({ firesAt, wallTime, schedule: name }) => `${firesAt} ${wallTime ?? ''} ${name ?? ''}`}
            columns={columns(zone)}
          />
        )}
      </Paged>
    </Card>
  );
}

const columns = (zone: string | undefined): readonly Column<WindowView>[] => [
  {
    head: 'Planned for',
    cell: ({ firesAt, wallTime, count }) => (
      <>
        <Time at={firesAt} zone={zone} />
        {count > 1 && <span className="faint"> and {plural(count - 1, 'more', 'more')}</span>}
        {wallTime !== null && <div className="small faint">{wallTime} by the clock there</div>}
      </>
    ),
  },
  {
    head: 'Schedule',
    place: 'hide-phone',
    look: 'soft',
    cell: ({ schedule }) => schedule ?? <span className="faint">deleted</span>,
  },
  { head: 'Result', cell: (window) => <Result window={window} /> },
  { head: 'Decided', place: 'hide-phone', look: 'soft', cell: ({ decidedAt }) => <Ago at={decidedAt} /> },
];

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

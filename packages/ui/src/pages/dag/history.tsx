/** How a dag did over time: the newest runs one by one, percentiles by day or hour, and a calendar. */
import type { DagHistory } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { historyQuery, statsQuery } from '../../api/queries.ts';
import { plural } from '../../parts/format.ts';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { Calendar, WEEKS } from './calendar.tsx';
import { Durations } from './durations.tsx';
import { pastRuns } from './history-figures.ts';
import { Percentiles } from './percentiles.tsx';
import './history.css';

export function History({ dag }: { readonly dag: string }) {
  return (
    <Loaded query={useQuery(historyQuery(dag))}>{(history) => <HistoryView dag={dag} history={history} />}</Loaded>
  );
}

function HistoryView({ dag, history }: { readonly dag: string; readonly history: DagHistory }) {
  const runs = useMemo(() => pastRuns(history), [history]);
  const days = useQuery(statsQuery({ dag, by: 'day', steps: WEEKS * 7 }));
  const ended = days.data === undefined ? 0 : days.data.total.succeeded + days.data.total.failed;
  if (runs.length === 0 && ended === 0) {
    return (
      <Card>
        <Empty title="No runs yet.">
          <span>How long runs take, and how they end by day, shows here once some have ended.</span>
        </Empty>
      </Card>
    );
  }
  return (
    <>
      {runs.length > 0 && <Durations runs={runs} />}
      <Percentiles dag={dag} />
      <Card
        title="Days"
        side={
          <span className="small faint">
            {plural(ended, 'run')} in {WEEKS} weeks
          </span>
        }
      >
        <Loaded query={days}>{({ steps }) => <Calendar steps={steps} />}</Loaded>
      </Card>
    </>
  );
}

/** How a dag did over time: durations with percentiles, and a calendar of its days. */
import type { DagHistory } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { historyQuery } from '../../api/queries.ts';
import { plural } from '../../parts/format.ts';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { Calendar } from './calendar.tsx';
import { Durations } from './durations.tsx';
import { pastRuns } from './history-figures.ts';
import './history.css';

export function History({ dag }: { readonly dag: string }) {
  return <Loaded query={useQuery(historyQuery(dag))}>{(history) => <HistoryView history={history} />}</Loaded>;
}

function HistoryView({ history }: { readonly history: DagHistory }) {
  const runs = useMemo(() => pastRuns(history), [history]);
  if (runs.length === 0) {
    return (
      <Card>
        <Empty title="No runs yet." />
      </Card>
    );
  }
  return (
    <>
      <Durations runs={runs} />
      <Card title="Days" side={<span className="small faint">The last {plural(runs.length, 'run')}</span>}>
        <Calendar runs={runs} />
      </Card>
    </>
  );
}

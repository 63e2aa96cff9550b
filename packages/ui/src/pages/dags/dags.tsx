import type { DagView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { dagsQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { plural, span } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { RunStrip } from '../../parts/strip.tsx';
import { TriggerButton } from '../../trigger/trigger.tsx';
import { type DagFilter, passes, successRate, typicalMs } from './figures.ts';
import { ScheduleSwitch } from './schedule-switch.tsx';

const FILTERS: readonly (readonly [DagFilter, string])[] = [
  ['all', 'All'],
  ['running', 'Running'],
  ['failed', 'Last run failed'],
  ['scheduled', 'Scheduled'],
  ['paused', 'Paused'],
];

export function DagsPage() {
  const dags = useQuery(dagsQuery());
  const [{ q = '', show = 'all' }, change] = useSearchState();
  return (
    <Page title="DAGs">
      <div className="toolbar">
        <input
          type="search"
          className="search"
          placeholder="Search  /"
          aria-label="Search DAGs"
          value={q}
          onChange={(event) => change({ q: event.target.value })}
        />
        <div className="segmented" role="group" aria-label="Which DAGs">
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
        <Loaded query={dags}>
          {(items) => {
            const shown = items.filter((dag) => passes(dag, show, q));
            if (shown.length === 0) {
              return items.length === 0 ? (
                <Empty title="No DAGs are deployed.">
                  <code>signalbox deploy dags/hello.ts</code>
                </Empty>
              ) : (
                <Empty title="No DAG matches." />
              );
            }
            return (
              <>
                <DagTable dags={shown} />
                <div className="card-foot faint small">
                  {shown.length === items.length
                    ? plural(items.length, 'DAG')
                    : `${shown.length} of ${plural(items.length, 'DAG')}`}
                </div>
              </>
            );
          }}
        </Loaded>
      </Card>
    </Page>
  );
}

function DagTable({ dags }: { readonly dags: readonly DagView[] }) {
  return (
    <div className="scroll-x">
      <table className="list">
        <thead>
          <tr>
            <th>Name</th>
            <th className="hide-phone">Last runs</th>
            <th className="right hide-narrow" title="Of the last 14 runs that ended">
              Success
            </th>
            <th className="right hide-narrow" title="Median of the last runs that succeeded">
              Typical
            </th>
            <th className="hide-narrow">Schedule</th>
            <th className="hide-narrow">Next firing</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {dags.map((dag) => (
            <DagRow key={dag.name} dag={dag} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DagRow({ dag }: { readonly dag: DagView }) {
  const { schedule } = dag;
  const rate = successRate(dag.recentRuns);
  const typical = typicalMs(dag.recentRuns);
  return (
    <tr>
      <td className="dag-name">
        <Link to="/dags/$name" params={{ name: dag.name }} className="name-link">
          {dag.name}
        </Link>
        {dag.description !== null && <div className="small faint truncate">{dag.description}</div>}
      </td>
      <td className="hide-phone">
        <RunStrip runs={dag.recentRuns} />
      </td>
      <td className="right hide-narrow">{rate === null ? <span className="faint">–</span> : `${rate} %`}</td>
      <td className="right nowrap hide-narrow">
        {typical === null ? <span className="faint">–</span> : span(typical)}
      </td>
      <td className="hide-narrow">
        {schedule !== null ? (
          <span className="nowrap" title={`${schedule.fires} (${schedule.zone})`}>
            {cronWords(schedule.fires)}
          </span>
        ) : dag.event !== null ? (
          <span>on event {dag.event}</span>
        ) : (
          <span className="faint">by hand</span>
        )}
      </td>
      <td className="hide-narrow">
        {schedule === null ? (
          <span className="faint">–</span>
        ) : schedule.paused ? (
          <span className="chip warn">paused</span>
        ) : (
          <>
            <Time at={schedule.nextAt} zone={schedule.zone} />
            <div className="small faint">
              <Ago at={schedule.nextAt} />
            </div>
          </>
        )}
      </td>
      <td>
        <div className="row dag-actions">
          {schedule !== null && <ScheduleSwitch dag={dag.name} paused={schedule.paused} small />}
          <TriggerButton dag={dag.name} small />
        </div>
      </td>
    </tr>
  );
}

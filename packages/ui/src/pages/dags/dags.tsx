import type { DagView, EndedSums } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { dagStatsQuery, dagsQuery, STATS_DAYS } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { plural, span } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { RunStrip } from '../../parts/strip.tsx';
import { TriggerButton } from '../../trigger/trigger.tsx';
import { type DagFilter, labelsOf, passes, successRate } from './figures.ts';
import { DagLabels } from './labels.tsx';
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
  const sums = useQuery(dagStatsQuery()).data?.items;
  const byName = new Map(sums?.map((one) => [one.dag, one]));
  const [{ q = '', show = 'all', tag, owner }, change] = useSearchState();
  const { tags, owners } = labelsOf(dags.data ?? []);
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
        <LabelFilter
          label="Tag"
          all="All tags"
          values={tags}
          value={tag}
          onChange={(value) => change({ tag: value })}
        />
        <LabelFilter
          label="Owner"
          all="All owners"
          values={owners}
          value={owner}
          onChange={(value) => change({ owner: value })}
        />
      </div>
      <Card flush>
        <Loaded query={dags}>
          {(items) => {
            const shown = items.filter((dag) => passes(dag, { show, q, tag, owner }));
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
                <DagTable dags={shown} sums={byName} />
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

interface LabelFilterProps {
  readonly label: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** Absent where no dag has such a label. */
function LabelFilter({ label, all, values, value, onChange }: LabelFilterProps) {
  if (values.length === 0 && value === undefined) return null;
  // An address may name one that no dag has any more.
  const choices = value === undefined || values.includes(value) ? values : [value, ...values];
  return (
    <select aria-label={label} value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
      <option value="">{all}</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  );
}

interface DagTableProps {
  readonly dags: readonly DagView[];
  readonly sums: ReadonlyMap<string, EndedSums>;
}

function DagTable({ dags, sums }: DagTableProps) {
  return (
    <div className="scroll-x">
      <table className="list">
        <thead>
          <tr>
            <th>Name</th>
            <th className="hide-phone">Last runs</th>
            <th className="right hide-narrow" title={`Of the runs that ended in the last ${STATS_DAYS} days`}>
              Success
            </th>
            <th
              className="right hide-narrow"
              title={`Half of the runs that succeeded in the last ${STATS_DAYS} days took at most this long`}
            >
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
            <DagRow key={dag.name} dag={dag} sums={sums.get(dag.name)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DagRow({ dag, sums }: { readonly dag: DagView; readonly sums: EndedSums | undefined }) {
  const { schedule } = dag;
  const rate = sums === undefined ? null : successRate(sums);
  const typical = sums?.p50Ms ?? null;
  return (
    <tr>
      <td className="dag-name">
        <Link to="/dags/$name" params={{ name: dag.name }} className="name-link" title={dag.name}>
          {dag.name}
        </Link>
        {dag.description !== null && <div className="small faint truncate">{dag.description}</div>}
        <DagLabels tags={dag.tags} owner={dag.owner} />
      </td>
      <td className="hide-phone">
        <RunStrip runs={dag.recentRuns} />
      </td>
      <td className="right hide-narrow">{rate === null ? <span className="faint">–</span> : `${rate} %`}</td>
      <td className="right nowrap hide-narrow">
        {typical === null ? <span className="faint">–</span> : span(typical)}
      </td>
      <td className="hide-narrow dag-schedule">
        {schedule !== null ? (
          <span title={`${schedule.fires} (${schedule.zone})`}>{cronWords(schedule.fires)}</span>
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

import type { DagDetails } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { OpenButton } from '../../actions/change.tsx';
import { dagQuery, STATS_DAYS, statsQuery } from '../../api/queries.ts';
import { plural, span } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Failed, Page } from '../../parts/page.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { StateIcon } from '../../parts/state.tsx';
import { RunStrip } from '../../parts/strip.tsx';
import { type Tab, Tabs, useTab } from '../../parts/tabs.tsx';
import { visible } from '../../parts/visible.ts';
import { viewerZone } from '../../parts/zones.tsx';
import { TriggerButton } from '../../trigger/trigger.tsx';
import { successRate } from '../dags/figures.ts';
import { DagLabels } from '../dags/labels.tsx';
import { ScheduleSwitch } from '../dags/schedule-switch.tsx';
import { RunList } from '../runs/runs.tsx';
import { OwnerDialog } from './owner-dialog.tsx';
import { Settings } from './settings.tsx';
import { Versions } from './versions.tsx';

const DagGraph = lazy(async () => ({ default: (await import('./dag-graph.tsx')).DagGraph }));
const Grid = lazy(async () => ({ default: (await import('./grid.tsx')).Grid }));
const History = lazy(async () => ({ default: (await import('./history.tsx')).History }));
const DagSchedules = lazy(async () => ({ default: (await import('../schedules/dag-schedules.tsx')).DagSchedules }));
const Triggers = lazy(async () => ({ default: (await import('../triggers/triggers.tsx')).Triggers }));
const Backfills = lazy(async () => ({ default: (await import('../backfills/backfills.tsx')).Backfills }));
const Code = lazy(async () => ({ default: (await import('./code.tsx')).Code }));

const TABS: readonly Tab[] = [
  { key: 'runs', label: 'Runs' },
  { key: 'grid', label: 'Grid' },
  { key: 'graph', label: 'Graph' },
  { key: 'history', label: 'History' },
  { key: 'schedules', label: 'Schedules' },
  { key: 'triggers', label: 'Triggers' },
  { key: 'backfills', label: 'Backfills' },
  { key: 'versions', label: 'Versions' },
  { key: 'code', label: 'Code' },
  { key: 'settings', label: 'Settings' },
];

export function DagPage() {
  const { name = '' } = useParams({ strict: false });
  const dag = useQuery(dagQuery(name));
  if (dag.data === undefined) {
    return (
      <Page title={name}>
        {dag.error === null ? <div className="loading">Loading …</div> : <Failed error={dag.error} />}
      </Page>
    );
  }
  return <DagView dag={dag.data} />;
}

function DagView({ dag }: { readonly dag: DagDetails }) {
  const { schedule } = dag;
  const sums = useQuery(statsQuery({ dag: dag.name, by: 'day', steps: STATS_DAYS })).data?.total;
  const rate = sums === undefined ? null : successRate(sums);
  const typical = sums?.p50Ms ?? null;
  return (
    <Page
      title={dag.name}
      crumbs={
        <>
          <Link to="/dags">DAGs</Link> /
        </>
      }
      sub={
        dag.description === null && dag.tags.length === 0 && dag.owner === null ? undefined : (
          <div className="row wrap">
            {visible(dag.description ?? '')}
            <DagLabels tags={dag.tags} owner={dag.owner} />
          </div>
        )
      }
      actions={
        <>
          <OpenButton
            needs="operator"
            className="button"
            dialog={(onClose) => <OwnerDialog dag={dag.name} owner={dag.owner} onClose={onClose} />}
          >
            Owner …
          </OpenButton>
          {schedule !== null && <ScheduleSwitch dag={dag.name} paused={schedule.paused} />}
          {dag.retiredAt === null && <TriggerButton dag={dag.name} />}
        </>
      }
    >
      <div className="facts">
        <RunStrip runs={dag.recentRuns} most={25} />
        {rate !== null && (
          <span title={`Of the runs that ended in the last ${STATS_DAYS} days`}>
            <b>{rate} %</b> succeeded
          </span>
        )}
        {typical !== null && (
          <span title={`Half of the runs that succeeded in the last ${STATS_DAYS} days took at most this long`}>
            Typically <b>{span(typical)}</b>
          </span>
        )}
        <span>
          <b>{plural(dag.taskCount, 'task')}</b>, version <b>{dag.version}</b>, deployed <Ago at={dag.deployedAt} />
        </span>
        {schedule !== null && (
          <span title={`${schedule.fires} (${schedule.zone})`}>
            <b>{cronWords(schedule.fires)}</b>
            {schedule.zone !== viewerZone() && ` ${schedule.zone}`}
            {dag.scheduleCount > 1 && ` and ${dag.scheduleCount - 1} more`}
            {schedule.paused ? (
              <span className="chip warn">paused</span>
            ) : (
              <>
                , next <Time at={schedule.nextAt} zone={schedule.zone} />
              </>
            )}
          </span>
        )}
      </div>
      {dag.retiredAt !== null && (
        <div className="notice warn">
          <StateIcon state="removed" />
          <span>
            This DAG was deleted <Ago at={dag.retiredAt} />. Its history stays; deploy it again to bring it back.
          </span>
        </div>
      )}
      {schedule?.fault != null && (
        <div className="notice bad">
          <StateIcon state="set_aside" />
          <span>The server has paused the schedule: {schedule.fault}</span>
        </div>
      )}
      {dag.breakers.length > 0 && (
        <div className="notice warn">
          <StateIcon state="upstream_failed" />
          <span className="grow">{plural(dag.breakers.length, 'breaker')} hold tasks of this DAG back.</span>
          <Link to="/breakers">Breakers</Link>
        </div>
      )}
      {dag.deadLetters > 0 && (
        <div className="notice warn">
          <StateIcon state="failed" />
          <span className="grow">{plural(dag.deadLetters, 'task')} of this DAG failed for good.</span>
          <Link to="/dead-letters" search={{ dag: dag.name }}>
            Dead letters
          </Link>
        </div>
      )}
      <Tabs label="Views of the DAG" tabs={TABS} />
      <Suspense fallback={<div className="loading">Loading …</div>}>
        <TabBody dag={dag} />
      </Suspense>
    </Page>
  );
}

function TabBody({ dag }: { readonly dag: DagDetails }) {
  switch (useTab(TABS)) {
    case 'grid':
      return <Grid dag={dag.name} />;
    case 'graph':
      return <DagGraph dag={dag} />;
    case 'history':
      return <History dag={dag.name} />;
    case 'schedules':
      return <DagSchedules dag={dag} />;
    case 'triggers':
      return <Triggers dag={dag} />;
    case 'backfills':
      return <Backfills dag={dag.name} />;
    case 'versions':
      return <Versions dag={dag.name} />;
    case 'code':
      return <Code dag={dag} />;
    case 'settings':
      return <Settings dag={dag} />;
    default:
      return <RunList dag={dag.name} />;
  }
}

import type { RunColumns, RunShape, TaskView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { RunActions } from '../../actions/run-actions.tsx';
import {
  columnsQuery,
  dagQuery,
  runsQuery,
  shapeQuery,
  taskQuery,
  tasksQuery,
  workersQuery,
} from '../../api/queries.ts';
import { ErrorLine } from '../../parts/error-line.tsx';
import { actorName, count, plural, shortId, span } from '../../parts/format.ts';
import { Json } from '../../parts/json.tsx';
import { Ago, Time, Took } from '../../parts/now.tsx';
import { Card, Empty, Failed, Page } from '../../parts/page.tsx';
import { RunTable } from '../../parts/run-table.tsx';
import { State, StateIcon } from '../../parts/state.tsx';
import { lookOf, rankOf, runState } from '../../parts/states.ts';
import { type Tab, Tabs, useTab } from '../../parts/tabs.tsx';
import { WhyText } from '../../parts/why-text.tsx';
import { Compare } from './compare.tsx';
import { DelayedRun } from './delayed-run.tsx';
import { Gantt } from './gantt.tsx';
import { countStates, isIdle, rowsOf, type TaskRow } from './model.ts';
import { TaskTable } from './task-table.tsx';
import { timelineOf } from './timeline.ts';
import './run.css';
import { DagCrumbs, dagWord } from '../../parts/dag-link.tsx';

const RunGraph = lazy(async () => ({ default: (await import('./run-graph.tsx')).RunGraph }));
const RunLog = lazy(async () => ({ default: (await import('../../log/run-log.tsx')).RunLog }));

const TABS: readonly Tab[] = [
  { key: 'graph', label: 'Graph' },
  { key: 'tasks', label: 'Tasks' },
  { key: 'gantt', label: 'Gantt' },
  { key: 'timeline', label: 'Timeline' },
  { key: 'data', label: 'Params and outputs' },
  { key: 'log', label: 'Log' },
  { key: 'compare', label: 'Compare' },
];
/** Tasks with all their attempts are read only for runs of this size. */
const DETAILED = 500;

export function RunPage() {
  const { id = '' } = useParams({ strict: false });
  const columns = useQuery(columnsQuery(id));
  const shape = useQuery(shapeQuery(id, columns.data?.columns.state.length ?? -1));
  const { data } = columns;
  if (data === undefined) {
    return (
      <Page title={`Run ${shortId(id)}`}>
        {columns.error === null ? <div className="loading">Loading …</div> : <Failed error={columns.error} />}
      </Page>
    );
  }
  if (data.state === 'scheduled') return <DelayedRun run={data} />;
  return <RunView run={data} shape={shape.data ?? null} />;
}

function RunView({ run, shape }: { readonly run: RunColumns; readonly shape: RunShape | null }) {
  const tab = useTab(TABS);
  const rows = useMemo(() => (shape === null ? [] : rowsOf(run, shape)), [run, shape]);
  const shown = useMemo(() => rows.filter((row) => !isIdle(row)), [rows]);
  const counts = useMemo(() => countStates(shown), [shown]);
  const state = runState(run);
  const zone = useQuery({ ...dagQuery(run.dag), enabled: run.window !== null }).data?.schedule?.zone;
  return (
    <Page
      name={`${dagWord(run.dag)} ${shortId(run.id)}`}
      crumbs={<DagCrumbs dag={run.dag} />}
      title={
        <>
          Run <span className="mono">{shortId(run.id)}</span> <State state={state} />
        </>
      }
      actions={<RunActions run={run} hasFailed={(counts.failed ?? 0) > 0} />}
    >
      <div className="facts">
        <span>
          {run.endedAt === null ? 'Open for' : 'Took'}{' '}
          <b>
            <Took from={run.createdAt} to={run.endedAt} />
          </b>
        </span>
        <span>
          Created{' '}
          <b>
            <Time at={run.createdAt} />
          </b>{' '}
          <span className="faint">
            (<Ago at={run.createdAt} />) by {actorName(run.actor)}
          </span>
        </span>
        {run.window !== null && (
          <span>
            For the window{' '}
            <b>
              <Time at={run.window} zone={zone} />
            </b>
          </span>
        )}
        <span>
          Version <b>{run.version}</b>
        </span>
        {run.priority !== 'normal' && (
          <span>
            Priority <b>{run.priority}</b>
          </span>
        )}
        {run.assets !== undefined && (
          <span>
            Because of{' '}
            {run.assets.map(({ name, run: producer }, at) => (
              <span key={name}>
                {at > 0 && ', '}
                {producer === null ? (
                  <Link to="/assets">{name}</Link>
                ) : (
                  <Link to="/runs/$id" params={{ id: producer }} title={`The run that produced ${name}`}>
                    {name}
                  </Link>
                )}
              </span>
            ))}
          </span>
        )}
        {run.concurrencyKey !== undefined && (
          <span title="Runs with the same key share a limit">Key {run.concurrencyKey}</span>
        )}
        {run.parent !== null && (
          <span>
            Started by{' '}
            <Link to="/runs/$id/tasks/$task" params={{ id: run.parent.run, task: run.parent.task }}>
              {run.parent.task} of run {shortId(run.parent.run)}
            </Link>
          </span>
        )}
      </div>
      {run.why !== null && (
        <div className="notice warn" role="status">
          <StateIcon state="waiting" />
          <span>
            <WhyText why={run.why} />
          </span>
        </div>
      )}
      {run.unmet !== undefined && run.unmet.length > 0 && (
        <div className="notice warn" role="status">
          <StateIcon state="skipped" />
          <span>What its schedule requires had not succeeded in time: {run.unmet.join(', ')}.</span>
        </div>
      )}
      {run.closingFailed.length > 0 && (
        <div className="notice bad" role="status">
          <StateIcon state="set_aside" />
          <span>
            These did not decide the run, but failed, so somebody should look: {run.closingFailed.join(', ')}.
          </span>
        </div>
      )}
      {run.outcome === 'failed' && <WhatFailed rows={rows} run={run} />}
      <StateBar counts={counts} total={shown.length} />
      <Tabs
        label="Views of the run"
        tabs={TABS.map((one) => (one.key === 'tasks' ? { ...one, count: count(shown.length) } : one))}
      />
      <Suspense fallback={<div className="loading">Loading …</div>}>
        {shape === null ? (
          <div className="loading">Loading …</div>
        ) : (
          <TabBody tab={tab} run={run} shape={shape} rows={rows} shown={shown} />
        )}
      </Suspense>
    </Page>
  );
}

interface TabBodyProps {
  readonly tab: string;
  readonly run: RunColumns;
  readonly shape: RunShape;
  readonly rows: readonly TaskRow[];
  readonly shown: readonly TaskRow[];
}

function TabBody({ tab, run, shape, rows, shown }: TabBodyProps) {
  const isDetailed = rows.length <= DETAILED;
  const needsTasks = isDetailed && ['gantt', 'timeline', 'data'].includes(tab);
  const tasks = useQuery({ ...tasksQuery(run.id), enabled: needsTasks }).data?.items;
  switch (tab) {
    case 'tasks':
      return <TaskTable rows={shown} runId={run.id} createdAt={run.createdAt} />;
    case 'gantt':
      return <Gantt rows={rows} shape={shape} run={run} tasks={tasks} />;
    case 'timeline':
      return isDetailed ? (
        <Timeline run={run} tasks={tasks ?? []} />
      ) : (
        <Card>
          <Empty title={`A run of ${count(rows.length)} tasks has too many events for one page.`}>
            <Link to="/events" search={{ run: run.id, from: 'start' }}>
              Read its events
            </Link>
          </Empty>
        </Card>
      );
    case 'data':
      return (
        <>
          <Card title="Params">
            {run.params === null ? <span className="faint">none</span> : <Json value={run.params} />}
          </Card>
          <Card title="Outputs" flush>
            {isDetailed ? (
              <Outputs
                runId={run.id}
                tasks={(tasks ?? []).flatMap(({ name, output }) => (output === null ? [] : [{ name, output }]))}
              />
            ) : (
              <Empty title="Open a task to see its output." />
            )}
          </Card>
          <Children runId={run.id} />
        </>
      );
    case 'log':
      return <RunLog runId={run.id} />;
    case 'compare':
      return <Compare run={run} rows={rows} />;
    default:
      return <RunGraph rows={rows} shape={shape} runId={run.id} />;
  }
}

const SHOWN_FAILURES = 5;

function WhatFailed({ rows, run }: { readonly rows: readonly TaskRow[]; readonly run: RunColumns }) {
  const failed = rows.filter(({ state, role }) => state === 'failed' && role === 'task');
  const first = failed[0]?.name ?? '';
  // The cause in sight saves most people a click.
  const { error } = useQuery({ ...taskQuery(run.id, first), enabled: first !== '' }).data ?? { error: null };
  if (failed.length === 0) return null;
  return (
    <div className="notice bad" role="status">
      <StateIcon state="failed" />
      <span className="grow">
        {run.reason === 'timeout' ? 'The time of the run was over. ' : ''}
        {failed.length === 1 ? 'One task failed: ' : `${count(failed.length)} tasks failed: `}
        {failed.slice(0, SHOWN_FAILURES).map(({ name }, at) => (
          <span key={name}>
            {at > 0 && ', '}
            <Link to="/runs/$id/tasks/$task" params={{ id: run.id, task: name }}>
              {name}
            </Link>
          </span>
        ))}
        {failed.length > SHOWN_FAILURES && <> and {count(failed.length - SHOWN_FAILURES)} more</>}.{' '}
        {error !== null && <ErrorLine text={error} />}
      </span>
    </div>
  );
}

function StateBar({ counts, total }: { readonly counts: Readonly<Record<string, number>>; readonly total: number }) {
  const states = Object.keys(counts).sort((a, b) => rankOf(b) - rankOf(a));
  if (total === 0) return null;
  const label = states
    .map((state) => `${plural(counts[state] ?? 0, 'task')} ${lookOf(state).word.toLowerCase()}`)
    .join(', ');
  return (
    <div className="progress-bar" role="img" aria-label={label} title={label}>
      {states.map((state) => (
        <i
          key={state}
          className={`tone-fill-${lookOf(state).tone}`}
          style={{ width: `${((counts[state] ?? 0) / total) * 100}%` }}
        />
      ))}
    </div>
  );
}

function Timeline({ run, tasks }: { readonly run: RunColumns; readonly tasks: readonly TaskView[] }) {
  const workers = useQuery(workersQuery()).data?.items ?? [];
  // By its name while it is connected.
  const nameOf = (id: string) => workers.find((worker) => worker.id === id)?.name ?? id.slice(0, 8);
  const happenings = timelineOf(run, tasks, nameOf);
  return (
    <Card flush>
      <ol className="timeline">
        {happenings.map(({ at, state, task, text }) => (
          <li key={`${at} ${task ?? ''} ${text}`}>
            <span className="faint small">
              <Time at={at} />
            </span>
            <span className="faint small right" title="Since the run was created">
              +{span(Date.parse(at) - Date.parse(run.createdAt))}
            </span>
            <StateIcon state={state} size={12} />
            <span>
              {task !== null && (
                <>
                  <Link to="/runs/$id/tasks/$task" params={{ id: run.id, task }}>
                    {task}
                  </Link>{' '}
                </>
              )}
              {text}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Outputs({
  runId,
  tasks,
}: {
  readonly runId: string;
  readonly tasks: readonly { readonly name: string; readonly output: unknown }[];
}) {
  if (tasks.length === 0) return <Empty title="No task has returned anything yet." />;
  return (
    <div className="card-body stack">
      {tasks.map(({ name, output }) => (
        <div key={name} className="stack tight">
          <h3>
            <Link to="/runs/$id/tasks/$task" params={{ id: runId, task: name }}>
              {name}
            </Link>
          </h3>
          <Json value={output} />
        </div>
      ))}
    </div>
  );
}

function Children({ runId }: { readonly runId: string }) {
  const children = useQuery(runsQuery({ parent: runId, limit: 50 })).data?.items ?? [];
  if (children.length === 0) return null;
  return (
    <Card title="Runs that its tasks have made" flush>
      <RunTable runs={children} />
    </Card>
  );
}

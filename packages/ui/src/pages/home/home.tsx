import type {
  DeadLetterGroup,
  Delays,
  QueueView,
  RunColumns,
  RunSummary,
  SchedulePage,
  Stats,
  WorkerPage,
} from '@signalbox/protocol';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError } from '../../api/client.ts';
import {
  anyDagQuery,
  breakersQuery,
  columnsQuery,
  deadLetterGroupsQuery,
  delaysQuery,
  nodesQuery,
  queuesQuery,
  runsQuery,
  schedulesQuery,
  statsQuery,
  storageQuery,
  workersQuery,
} from '../../api/queries.ts';
import { useIsInstallation } from '../../api/session.tsx';
import { dagWord } from '../../parts/dag-link.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { count, fewOf, plural } from '../../parts/format.ts';
import { Ago, Time, useNow } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { RunTable } from '../../parts/run-table.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { StateIcon } from '../../parts/state.tsx';
import { attentionOf, LATE_MS } from './attention.ts';
import { DelayChart } from './delay-chart.tsx';
import { FirstSteps } from './first-steps.tsx';
import { OutcomeChart } from './outcome-chart.tsx';

const SHOWN_DAGS = 3;
const ASKED_WHY = 8;
/** Enough to have some that ended among them. */
const LATEST = 50;
const DAY_MS = 86_400_000;

export function HomePage() {
  const hasDags = useQuery(anyDagQuery()).data;
  const open = useQuery(runsQuery({ state: 'open', limit: 50 }));
  const queued = useQuery(runsQuery({ state: 'queued', limit: 50 }));
  const latest = useQuery(runsQuery({ limit: LATEST }));
  const workers = useQuery(workersQuery());
  const letters = useQuery(deadLetterGroupsQuery());
  const schedules = useQuery(schedulesQuery());
  const waiting = useQueries({
    queries: (open.data?.items ?? []).slice(0, ASKED_WHY).map(({ id }) => columnsQuery(id)),
    combine: (results) => results.flatMap(({ data }): RunColumns[] => (data === undefined ? [] : [data])),
  });
  const now = useNow();
  const nodes = useQuery(nodesQuery());
  const queues = useQuery(queuesQuery()).data?.items ?? [];
  const delays = useQuery(delaysQuery()).data;
  const stats = useQuery(statsQuery({ by: 'hour', steps: 24 })).data;
  const storage = useQuery({ ...storageQuery(), enabled: useIsInstallation() }).data;
  const attention = attentionOf({
    now,
    queues,
    open: open.data?.items ?? [],
    storage,
    databaseTrouble: databaseTroubleIn(nodes.error),
    letters: letters.data,
    breakers: useQuery(breakersQuery()).data,
    workers: workers.data,
    nodes: nodes.data,
    waiting,
    schedules: schedules.data?.items ?? [],
  });
  if (hasDags === false) return <FirstSteps />;
  return (
    <Page title="Home" name="Signalbox">
      {attention.length > 0 && (
        <div className="stack tight" aria-label="Needs a person">
          {attention.map(({ key, tone, text, to, action }) => (
            <div key={key} className={`notice ${tone}`} role="status">
              <StateIcon state={tone === 'bad' ? 'set_aside' : 'upstream_failed'} />
              <span className="grow">{text}</span>
              <Link to={to} className="nowrap">
                {action}
              </Link>
            </div>
          ))}
        </div>
      )}
      <Figures
        open={open.data?.items}
        queued={queued.data}
        stats={stats}
        workers={workers.data}
        queues={queues}
        delays={delays}
      />
      <div className="columns">
        <div className="stack">
          <Card
            title="Running now"
            side={
              <Link to="/runs" search={{ state: 'open' }}>
                All
              </Link>
            }
            flush
          >
            <Loaded query={open}>
              {({ items }) =>
                items.length === 0 ? (
                  <Empty title="Nothing runs at the moment." />
                ) : (
                  <RunTable runs={items.slice(0, 10)} isBrief />
                )
              }
            </Loaded>
          </Card>
          <Card title="Ended lately" side={<Link to="/runs">All</Link>} flush>
            <Loaded query={latest}>
              {({ items }) =>
                items.length === 0 ? (
                  <Empty title="No runs yet.">
                    <span>
                      Open a <Link to="/dags">DAG</Link> and press Trigger.
                    </span>
                  </Empty>
                ) : (
                  <RunTable runs={items.filter(({ state }) => state === 'ended').slice(0, 12)} isBrief />
                )
              }
            </Loaded>
          </Card>
        </div>
        <div className="stack">
          <Card title="Failed in the last day" side={<Link to="/dead-letters">All</Link>} flush>
            <Loaded query={letters}>
              {({ items }) => (
                <LetterGroupList groups={items.filter(({ lastAt }) => now - Date.parse(lastAt) < DAY_MS).slice(0, 6)} />
              )}
            </Loaded>
          </Card>
          <Card title="Next firings" side={<Link to="/schedules">All</Link>} flush>
            <Loaded query={schedules}>{({ items }) => <Firings schedules={items} />}</Loaded>
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** The server answers, and says that it has no database. */
function databaseTroubleIn(error: Error | null): string | null {
  return error instanceof ApiError && error.code === 'UNAVAILABLE' ? error.message : null;
}

interface FiguresProps {
  readonly open: readonly RunSummary[] | undefined;
  readonly queued: { readonly items: readonly RunSummary[] } | undefined;
  readonly stats: Stats | undefined;
  readonly workers: WorkerPage | undefined;
  readonly queues: readonly QueueView[];
  readonly delays: Delays | undefined;
}

function Figures({ open, queued, stats, workers, queues, delays }: FiguresProps) {
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
  const sum = (field: 'slots' | 'running') => workers?.items.reduce((total, worker) => total + worker[field], 0) ?? 0;
  const many = (items: readonly unknown[] | undefined) =>
    items === undefined ? '–' : `${count(items.length)}${items.length === 50 ? '+' : ''}`;
  return (
    <div className="figures">
      <Figure label="runs running" value={many(open)} to="/runs?state=open" />
      <Figure label="runs queued" value={many(queued?.items)} to="/runs?state=queued" />
      <Figure label={waiting === 1 ? 'task waiting' : 'tasks waiting'} value={count(waiting)} to="/queues" />
      <Figure
        label={sum('slots') === 0 ? 'no slots' : `of ${plural(sum('slots'), 'slot')} in use`}
        value={count(sum('running'))}
        to="/queues"
      />
      <Figure
        label={workers?.items.length === 1 ? 'worker' : 'workers'}
        value={workers === undefined ? '–' : count(workers.items.length)}
        to="/workers"
      />
      <div className="figure chart">
        <OutcomeChart stats={stats} />
      </div>
      <div className="figure chart">
        <DelayChart delays={delays} />
      </div>
    </div>
  );
}

function Figure({ label, value, to }: { readonly label: string; readonly value: string; readonly to: string }) {
  const [path = '/', query] = to.split('?');
  return (
    <Link
      to={path}
      search={query === undefined ? {} : Object.fromEntries(new URLSearchParams(query))}
      className="figure"
    >
      <b>{value}</b>
      <span>{label}</span>
    </Link>
  );
}

function LetterGroupList({ groups }: { readonly groups: readonly DeadLetterGroup[] }) {
  if (groups.length === 0) return <Empty title="Nothing." />;
  return (
    <ul className="rows">
      {groups.map((group) => (
        <li key={group.fingerprint}>
          <Link to="/dead-letters" search={{ fingerprint: group.fingerprint }} className="row">
            <span className="chip bad counted">{count(group.count)}</span>
            <span className="grow">
              <ErrorLine text={group.error ?? group.code} />
              <span className="small faint">
                {fewOf(
                  group.dags.map(({ dag }) => dagWord(dag)),
                  SHOWN_DAGS,
                )}{' '}
                · <Ago at={group.lastAt} />
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Firings({ schedules }: { readonly schedules: SchedulePage['items'] }) {
  const now = useNow();
  const next = schedules
    .filter(({ nextAt }) => nextAt !== null)
    .sort((a, b) => (a.nextAt ?? '').localeCompare(b.nextAt ?? ''))
    .slice(0, 8);
  if (next.length === 0) {
    return (
      <Empty title="Nothing is scheduled.">
        <span>
          Give a DAG a <code>schedule</code>.
        </span>
      </Empty>
    );
  }
  return (
    <ul className="rows">
      {next.map(({ dag, name, fires, zone, nextAt }) => (
        <li key={`${dag}/${name}`}>
          <Link to="/dags/$name" params={{ name: dag }} className="row">
            <span className="grow">
              <span className="name-link truncate">{dag}</span>
              <span className="small faint">{cronWords(fires)}</span>
            </span>
            <span className="right small">
              {nextAt !== null && now - Date.parse(nextAt) > LATE_MS && <span className="chip bad">late</span>}{' '}
              <Time at={nextAt} zone={zone} />
              <br />
              <span className="faint">
                <Ago at={nextAt} zone={zone} />
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Two runs of one dag side by side: where they first went different ways, and what took longer. */
import type { RunColumns } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { columnsQuery, runsQuery, shapeQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { count, fromNow, plural, shortId, span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Card, Empty } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { lookOf, runState } from '../../parts/states.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { type ComparedTask, compareRows } from './compare-rows.ts';
import { rowsOf, type TaskRow } from './model.ts';

const SHOWN = 200;

export function Compare({ run, rows }: { readonly run: RunColumns; readonly rows: readonly TaskRow[] }) {
  const now = useNow();
  const [{ with: chosen }, change] = useSearchState();
  const others = useQuery(runsQuery({ dag: run.dag, limit: 50 })).data?.items.filter(({ id }) => id !== run.id) ?? [];
  const otherId = chosen ?? others.find(({ outcome }) => outcome === 'succeeded')?.id ?? others[0]?.id;
  const other = useQuery({ ...columnsQuery(otherId ?? ''), enabled: otherId !== undefined }).data;
  const shape = useQuery(shapeQuery(otherId ?? '', other?.columns.state.length ?? -1)).data;
  if (others.length === 0) {
    return (
      <Card>
        <Empty title="This is the only run of the DAG." />
      </Card>
    );
  }
  const { tasks, divergence } =
    other === undefined || shape == null ? { tasks: [], divergence: null } : compareRows(rows, rowsOf(other, shape));
  return (
    <Card
      title="Compare with"
      side={
        <select
          className="field"
          aria-label="The other run"
          value={otherId}
          onChange={(event) => change({ with: event.target.value })}
        >
          {others.map((one) => (
            <option key={one.id} value={one.id}>
              {shortId(one.id)} · {lookOf(runState(one)).word} · {fromNow(Date.parse(one.createdAt), now)}
            </option>
          ))}
        </select>
      }
      flush
    >
      {other !== undefined && (
        <p className="card-lead">
          This run took <strong>{tookText(run, now)}</strong>, <OtherRun id={other.id} />{' '}
          <strong>{tookText(other, now)}</strong>
          {other.version !== run.version && ` with version ${other.version} (here ${run.version})`}.
        </p>
      )}
      {divergence !== null && (
        <p className="card-lead">
          First difference: <strong>{divergence.name}</strong> {lookOf(divergence.state).word.toLowerCase()} here, and{' '}
          {lookOf(divergence.otherState).word.toLowerCase()} there.
        </p>
      )}
      <Table className="compact" rows={tasks.slice(0, SHOWN)} keyOf={({ name }) => name} columns={columns(run.id)} />
      {tasks.length > SHOWN && (
        <div className="card-foot small faint">
          The {count(SHOWN)} of {plural(tasks.length, 'task')} that differ the most.
        </div>
      )}
    </Card>
  );
}

const tookText = ({ createdAt, endedAt }: RunColumns, now: number): string =>
  span((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(createdAt));

function OtherRun({ id }: { readonly id: string }) {
  return (
    <Link to="/runs/$id" params={{ id }} title={id}>
      run {shortId(id)}
    </Link>
  );
}

const columns = (run: string): readonly Column<ComparedTask>[] => [
  {
    head: 'Task',
    cell: ({ name }) => (
      <Link to="/runs/$id/tasks/$task" params={{ id: run, task: name }} className="name-link">
        {name}
      </Link>
    ),
  },
  { head: 'Here', cell: ({ state }) => <StateOrNone state={state} /> },
  { head: 'There', cell: ({ otherState }) => <StateOrNone state={otherState} /> },
  { head: 'Took here', place: 'right hide-phone', cell: ({ tookMs }) => (tookMs === null ? '–' : span(tookMs)) },
  { head: 'Took there', place: 'right hide-phone', cell: ({ otherMs }) => (otherMs === null ? '–' : span(otherMs)) },
  {
    head: 'Difference',
    place: 'right',
    cell: ({ differenceMs }) =>
      differenceMs === null ? '–' : `${differenceMs < 0 ? '−' : '+'}${span(Math.abs(differenceMs))}`,
  },
];

function StateOrNone({ state }: { readonly state: string | null }) {
  return state === null ? <span className="faint">not there</span> : <State state={state} />;
}

/** Tasks by runs: one column for each run, newest on the right. Arrows move, Enter opens. */
import type { RunColumns, RunShape, RunSummary } from '@signalbox/protocol';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { columnsQuery, runsQuery, shapeKeyOf, shapeOfVersionQuery } from '../../api/queries.ts';
import { fromNow, span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Card, Empty } from '../../parts/page.tsx';
import { StateIcon } from '../../parts/state.tsx';
import { lookOf, runState } from '../../parts/states.ts';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { rowsOf } from '../run/model.ts';
import { gridOf, moveIn, type Place } from './grid-rows.ts';
import './grid.css';

const MOST_RUNS = 25;
const ROW = 26;

export function Grid({ dag }: { readonly dag: string }) {
  const navigate = useNavigate();
  const now = useNow();
  const list = useQuery(runsQuery({ dag, limit: MOST_RUNS }));
  const runs = useMemo(() => (list.data?.items ?? []).slice().reverse(), [list.data]);
  const columns = useQueries({
    queries: runs.map(({ id }) => columnsQuery(id)),
    combine: (results) => results.map(({ data }): RunColumns | undefined => data),
  });
  // Runs of one version have one shape: it is read once.
  const versions = useMemo(
    () => [...new Map(columns.flatMap((run) => (run === undefined ? [] : [[shapeKeyOf(run), run] as const]))).values()],
    [columns],
  );
  const shapes = useQueries({
    queries: versions.map((run) => shapeOfVersionQuery(run)),
    combine: (results) => results.map(({ data }): RunShape | null => data ?? null),
  });
  const grid = useMemo(() => {
    const byKey = new Map(versions.map((run, at) => [shapeKeyOf(run), shapes[at]]));
    return gridOf(
      columns.map((run) => {
        const shape = run === undefined ? null : byKey.get(shapeKeyOf(run));
        return run === undefined || shape == null ? null : rowsOf(run, shape);
      }),
    );
  }, [columns, versions, shapes]);
  const [place, setPlace] = useState<Place | null>(null);
  if (list.data !== undefined && runs.length === 0) {
    return (
      <Card>
        <Empty title="No runs yet." />
      </Card>
    );
  }
  if (grid.length === 0) return <div className="loading">Loading …</div>;
  const open = ({ row, column }: Place) => {
    const [run, task] = [runs[column], grid[row]];
    if (run !== undefined && task?.states[column] != null) {
      void navigate({ to: '/runs/$id/tasks/$task', params: { id: run.id, task: task.name } });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveIn(place, event.key, { rows: grid.length, columns: runs.length });
    if (next !== null) setPlace(next);
    else if (event.key === 'Enter' && place !== null) open(place);
    else return;
    event.preventDefault();
  };
  const chosen = place === null ? undefined : grid[place.row];
  const chosenState = place === null ? null : (chosen?.states[place.column] ?? null);
  return (
    <section className="card grid-card" onKeyDown={onKeyDown}>
      <VirtualRows
        count={grid.length}
        height={ROW}
        label={`Tasks of the last ${runs.length} runs. Arrow keys move, Enter opens a task.`}
        head={<Heads runs={runs} now={now} />}
      >
        {(index) => {
          const row = grid[index];
          if (row === undefined) return null;
          return (
            <div className="grid-row">
              <span className="grid-name truncate" role="rowheader">
                {row.name}
              </span>
              {row.states.map((state, column) => {
                const run = runs[column] as RunSummary;
                const isChosen = place?.row === index && place.column === column;
                return (
                  <button
                    key={run.id}
                    type="button"
                    role="cell"
                    tabIndex={-1}
                    className={isChosen ? 'grid-cell chosen' : 'grid-cell'}
                    aria-label={`${row.name}: ${state === null ? 'not in this run' : lookOf(state).word}`}
                    title={`${row.name}: ${state === null ? 'not in this run' : lookOf(state).word}`}
                    onClick={() => open({ row: index, column })}
                  >
                    {state !== null && <StateIcon state={state} size={13} />}
                  </button>
                );
              })}
            </div>
          );
        }}
      </VirtualRows>
      <div className="card-foot small faint" aria-live="polite">
        {chosen === undefined || place === null
          ? `The last ${runs.length} runs, newest on the right.`
          : `${chosen.name} in the run of ${fromNow(Date.parse(runs[place.column]?.createdAt ?? ''), now)}: ${chosenState === null ? 'not in this run' : lookOf(chosenState).word}`}
      </div>
    </section>
  );
}

function Heads({ runs, now }: { readonly runs: readonly RunSummary[]; readonly now: number }) {
  const tookMs = ({ createdAt, endedAt }: RunSummary) =>
    (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(createdAt);
  const longest = Math.max(1, ...runs.map(tookMs));
  return (
    <div className="grid-row grid-head" role="row">
      <span className="grid-name" role="columnheader">
        Task
      </span>
      {runs.map((run) => {
        const { word, tone } = lookOf(runState(run));
        const label = `Run of ${fromNow(Date.parse(run.createdAt), now)}: ${word}, took ${span(tookMs(run))}`;
        return (
          <Link
            key={run.id}
            to="/runs/$id"
            params={{ id: run.id }}
            className="grid-cell"
            role="columnheader"
            title={label}
            aria-label={label}
          >
            <i className={`tone-fill-${tone}`} style={{ height: 4 + Math.round((tookMs(run) / longest) * 34) }} />
          </Link>
        );
      })}
    </div>
  );
}

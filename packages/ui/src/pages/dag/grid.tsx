/** Tasks by runs: one column for each run, newest on the right. Arrows move, Enter opens. */
import type { DagGrid, GridRun } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { gridQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { usePalette } from '../../graph/palette.ts';
import { fromNow, plural, span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { lookOf, runState } from '../../parts/states.ts';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { GridCells } from './grid-cells.tsx';
import { gridOf, moveIn, type Place, summaryOf } from './grid-rows.ts';
import './grid.css';

const ROW = 26;

export function Grid({ dag }: { readonly dag: string }) {
  return <Loaded query={useQuery(gridQuery(dag))}>{(grid) => <GridView grid={grid} />}</Loaded>;
}

function GridView({ grid }: { readonly grid: DagGrid }) {
  const navigate = useNavigate();
  const now = useNow();
  const palette = usePalette();
  const runs = useMemo(() => grid.runs.toReversed(), [grid]);
  const rows = useMemo(() => gridOf(grid), [grid]);
  const [{ cell }, change] = useSearchState();
  const [pointed, setPointed] = useState<Place | null>(null);
  const chosen = useMemo(() => placeOf(cell, rows, runs), [cell, rows, runs]);
  const place = pointed ?? chosen;
  const choose = (next: Place) => {
    setPointed(null);
    change({ cell: `${runs[next.column]?.id ?? ''} ${rows[next.row]?.name ?? ''}` });
  };
  const card = useRef<HTMLElement>(null);
  const hasRuns = runs.length > 0;
  // The newest runs are what people come for.
  useEffect(() => {
    const scroller = hasRuns ? card.current?.querySelector('.virtual') : null;
    if (scroller != null) scroller.scrollLeft = scroller.scrollWidth;
  }, [hasRuns]);
  if (!hasRuns) {
    return (
      <Card>
        <Empty title="No runs yet.">
          <span>Trigger one: each run becomes a column, each task a row.</span>
        </Empty>
      </Card>
    );
  }
  const open = ({ row, column }: Place) => {
    const [run, task] = [runs[column], rows[row]];
    if (run !== undefined && task?.states[column] != null) {
      void navigate({ to: '/runs/$id/tasks/$task', params: { id: run.id, task: task.name } });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveIn(place, event.key, { rows: rows.length, columns: runs.length });
    if (next !== null) choose(next);
    else if (event.key === 'Enter' && place !== null) open(place);
    else return;
    event.preventDefault();
  };
  return (
    <section ref={card} className="card grid-card" onKeyDown={onKeyDown} onPointerLeave={() => setPointed(null)}>
      <VirtualRows
        count={rows.length}
        height={ROW}
        label={`Tasks of the last ${runs.length === 1 ? 'run' : `${runs.length} runs`}. Arrow keys move, Enter opens a task.`}
        head={<Heads runs={runs} now={now} />}
      >
        {(index) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div className="grid-row">
              <span className="grid-name truncate" role="rowheader">
                {row.name}
              </span>
              <GridCells
                row={row}
                label={summaryOf(row)}
                palette={palette}
                chosen={place?.row === index ? place.column : null}
                onPoint={(column) => setPointed({ row: index, column })}
                onOpen={(column) => open({ row: index, column })}
              />
            </div>
          );
        }}
      </VirtualRows>
      <div className="card-foot small faint" aria-live="polite">
        {place === null ? (
          `${runs.length === 1 ? 'The only run.' : `The last ${plural(runs.length, 'run')}, newest on the right.`}${grid.cut ? ' Older ones are left out: they have too many tasks.' : ''}`
        ) : (
          <PlaceText
            name={rows[place.row]?.name}
            state={rows[place.row]?.states[place.column]}
            run={runs[place.column]}
          />
        )}
      </div>
    </section>
  );
}

/** What the address names: the id of a run and a task. Null when one of them is not there. */
function placeOf(
  cell: string | undefined,
  rows: readonly { readonly name: string }[],
  runs: readonly GridRun[],
): Place | null {
  const [id = '', task = ''] = cell?.split(' ') ?? [];
  const [row, column] = [rows.findIndex(({ name }) => name === task), runs.findIndex((run) => run.id === id)];
  return row < 0 || column < 0 ? null : { row, column };
}

interface PlaceTextProps {
  readonly name: string | undefined;
  readonly state: string | null | undefined;
  readonly run: GridRun | undefined;
}

function PlaceText({ name, state, run }: PlaceTextProps) {
  const now = useNow();
  const when = run === undefined ? '' : fromNow(Date.parse(run.createdAt), now);
  return (
    <>
      <b>{name}</b> in the run of {when}: {state == null ? 'not in this run' : lookOf(state).word}
    </>
  );
}

function Heads({ runs, now }: { readonly runs: readonly GridRun[]; readonly now: number }) {
  const tookMs = ({ createdAt, endedAt }: GridRun) =>
    (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(createdAt);
  const ended = runs.filter(({ endedAt }) => endedAt !== null);
  const longest = Math.max(1, ...(ended.length > 0 ? ended : runs).map(tookMs));
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
            <i
              className={`tone-fill-${tone}`}
              style={{ height: 4 + Math.round(Math.min(1, tookMs(run) / longest) * 34) }}
            />
          </Link>
        );
      })}
    </div>
  );
}

import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSearchState } from '../../api/search-state.ts';
import { count, span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Empty } from '../../parts/page.tsx';
import { State, StateIcon } from '../../parts/state.tsx';
import { lookOf, rankOf } from '../../parts/states.ts';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { countStates, type TaskRow } from './model.ts';

interface TaskTableProps {
  readonly rows: readonly TaskRow[];
  readonly runId: string;
  readonly createdAt: string;
}

const ROW = 36;

export function TaskTable({ rows, runId, createdAt }: TaskTableProps) {
  const [{ q = '', task: only }, change] = useSearchState();
  const now = useNow();
  const counts = useMemo(() => countStates(rows), [rows]);
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return rows.filter(
      ({ name, state }) => name.toLowerCase().includes(wanted) && (only === undefined || state === only),
    );
  }, [rows, q, only]);
  const states = Object.keys(counts).sort((a, b) => rankOf(a) - rankOf(b));
  const sinceMs = now - Date.parse(createdAt);
  return (
    <section className="card">
      <div className="card-head wrap">
        <input
          type="search"
          className="search"
          placeholder="Find a task  /"
          aria-label="Find a task"
          value={q}
          onChange={(event) => change({ q: event.target.value })}
        />
        <div className="row wrap" role="group" aria-label="Only tasks in this state">
          {states.map((state) => (
            <button
              key={state}
              type="button"
              className={only === state ? 'button small pressed' : 'button small quiet'}
              aria-pressed={only === state}
              onClick={() => change({ task: only === state ? undefined : state })}
            >
              <StateIcon state={state} size={12} /> {lookOf(state).word} {count(counts[state] ?? 0)}
            </button>
          ))}
        </div>
      </div>
      {shown.length === 0 ? (
        <Empty title="No task matches." />
      ) : (
        <VirtualRows
          count={shown.length}
          height={ROW}
          label="Tasks"
          className="task-rows"
          head={
            <div className="task-row head" role="row">
              <span role="columnheader">Task</span>
              <span role="columnheader">State</span>
              <span role="columnheader" className="right hide-phone">
                Attempt
              </span>
              <span role="columnheader" className="right hide-narrow">
                Started after
              </span>
              <span role="columnheader" className="right">
                Took
              </span>
            </div>
          }
        >
          {(index) => <Row row={shown[index] as TaskRow} runId={runId} sinceMs={sinceMs} />}
        </VirtualRows>
      )}
    </section>
  );
}

function Row({ row, runId, sinceMs }: { readonly row: TaskRow; readonly runId: string; readonly sinceMs: number }) {
  const { name, state, attempt, startedMs, claimedMs, endedMs, role, instances } = row;
  const from = startedMs ?? claimedMs;
  const took = from === null ? null : endedMs !== null ? endedMs - from : state === 'running' ? sinceMs - from : null;
  return (
    <div className="task-row">
      <span role="cell" className="truncate">
        <Link to="/runs/$id/tasks/$task" params={{ id: runId, task: name }} className="name-link">
          {name}
        </Link>
        {role !== 'task' && <span className="chip">{role}</span>}
        {instances !== null && <span className="chip">{count(instances.total)} items</span>}
      </span>
      <span role="cell">
        <State state={state} />
      </span>
      <span role="cell" className="right hide-phone">
        {attempt === 0 ? <span className="faint">–</span> : attempt}
      </span>
      <span role="cell" className="right soft hide-narrow">
        {from === null ? <span className="faint">–</span> : span(from)}
      </span>
      <span role="cell" className="right">
        {took === null ? <span className="faint">–</span> : span(Math.max(0, took))}
      </span>
    </div>
  );
}

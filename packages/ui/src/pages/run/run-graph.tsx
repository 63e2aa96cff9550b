import type { RunShape } from '@signalbox/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSearchState } from '../../api/search-state.ts';
import { Graph } from '../../graph/graph.tsx';
import { count } from '../../parts/format.ts';
import { lookOf } from '../../parts/states.ts';
import { type TaskRow, withNeighbours } from './model.ts';

interface RunGraphProps {
  readonly rows: readonly TaskRow[];
  readonly shape: RunShape;
  readonly runId: string;
}

export function RunGraph({ rows, shape, runId }: RunGraphProps) {
  const navigate = useNavigate();
  const [{ q = '', focus, node }, change] = useSearchState();
  const nodes = useMemo(
    () =>
      rows.map(({ name, state, instances, attempt, role }) => {
        const { tone, shape: drawn } = lookOf(state);
        const done = instances === null ? 0 : (instances.states.succeeded ?? 0);
        const note = instances !== null ? `${count(done)}/${count(instances.total)}` : attempt > 1 ? `×${attempt}` : '';
        return { label: name, note, tone, shape: drawn, isMinor: role !== 'task' };
      }),
    [rows],
  );
  const lit = useMemo(() => {
    const wanted = q.toLowerCase();
    if (wanted === '' && focus !== 'failed') return null;
    const found = rows.filter(
      ({ name, state }) =>
        name.toLowerCase().includes(wanted) &&
        (focus !== 'failed' || state === 'failed' || state === 'upstream_failed'),
    );
    const nos = found.map(({ no }) => no);
    return focus === 'failed' ? withNeighbours(nos, shape.edges) : new Set(nos);
  }, [rows, shape.edges, q, focus]);
  const selected = node === undefined ? null : rows.findIndex(({ name }) => name === node);
  const hasFailed = rows.some(({ state }) => state === 'failed');
  const open = (no: number) =>
    void navigate({ to: '/runs/$id/tasks/$task', params: { id: runId, task: rows[no]?.name ?? '' } });
  return (
    <section className="card">
      <div className="card-head">
        <input
          type="search"
          className="search"
          placeholder="Find a task  /"
          aria-label="Find a task in the graph"
          value={q}
          onChange={(event) => change({ q: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || lit === null) return;
            const [first] = lit;
            if (first !== undefined) change({ node: rows[first]?.name });
          }}
        />
        {lit !== null && <span className="faint small">{count(lit.size)} shown</span>}
        <span className="grow" />
        {hasFailed && (
          <button
            type="button"
            className="button small"
            aria-pressed={focus === 'failed'}
            onClick={() => change({ focus: focus === 'failed' ? undefined : 'failed' })}
          >
            {focus === 'failed' ? 'Show all' : 'Focus on failed'}
          </button>
        )}
        {selected !== null && selected >= 0 && (
          <button type="button" className="button small" onClick={() => open(selected)}>
            Open {rows[selected]?.name}
          </button>
        )}
      </div>
      <Graph
        nodes={nodes}
        edges={shape.edges}
        selected={selected === null || selected < 0 ? null : selected}
        lit={lit}
        label={`Graph of ${rows.length} tasks. The table of tasks has the same in text.`}
        onSelect={(no) => change({ node: no === null ? undefined : rows[no]?.name })}
        onOpen={open}
      />
    </section>
  );
}

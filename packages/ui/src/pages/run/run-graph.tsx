import type { RunShape } from '@signalbox/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSearchState } from '../../api/search-state.ts';
import { foldGroups, outermost } from '../../graph/fold-groups.ts';
import { Graph } from '../../graph/graph.tsx';
import type { GraphNode } from '../../graph/paint.ts';
import { count } from '../../parts/format.ts';
import { lookOf, rankOf } from '../../parts/states.ts';
import { type TaskRow, withNeighbours } from './model.ts';

interface RunGraphProps {
  readonly rows: readonly TaskRow[];
  readonly shape: RunShape;
  readonly runId: string;
}

export function RunGraph({ rows, shape, runId }: RunGraphProps) {
  const navigate = useNavigate();
  const [{ q = '', focus, node, groups, open: opened = '', at }, change] = useSearchState();
  const isFolded = groups === 'folded';
  const folded = useMemo(() => {
    const open = new Set(opened.split(',').filter((name) => name !== ''));
    const groupOf = isFolded ? outermost(shape.groups, shape.group, open) : rows.map(() => null);
    return foldGroups(groupOf, shape.edges);
  }, [rows, shape, isFolded, opened]);
  const nodes = useMemo(
    () =>
      folded.members.map((members, place): GraphNode => {
        const group = folded.groups[place] ?? null;
        return group === null ? nodeOf(rows[members[0] ?? 0] as TaskRow) : groupNode(group, members, rows);
      }),
    [rows, folded],
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
    const tasks = focus === 'failed' ? withNeighbours(nos, shape.edges) : new Set(nos);
    return new Set([...tasks].map((no) => folded.nodeOf[no] ?? 0));
  }, [rows, shape.edges, q, focus, folded]);
  const chosen = node === undefined ? -1 : rows.findIndex(({ name }) => name === node);
  const selected = chosen < 0 ? null : (folded.nodeOf[chosen] ?? null);
  const openNode = (place: number) => {
    const group = folded.groups[place] ?? null;
    if (group !== null) change({ open: opened === '' ? group : `${opened},${group}`, at: undefined });
    else openTask(folded.members[place]?.[0] ?? 0);
  };
  const openTask = (no: number) =>
    void navigate({ to: '/runs/$id/tasks/$task', params: { id: runId, task: rows[no]?.name ?? '' } });
  const canFold = useMemo(
    () => outermost(shape.groups, shape.group, new Set()).some((group) => group !== null),
    [shape],
  );
  const hasFailed = rows.some(({ state }) => state === 'failed');
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
            const no = first === undefined ? undefined : folded.members[first]?.[0];
            if (no !== undefined) change({ node: rows[no]?.name });
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
        {canFold && (
          <button
            type="button"
            className="button small"
            aria-pressed={isFolded}
            onClick={() => change({ groups: isFolded ? undefined : 'folded', open: undefined, at: undefined })}
          >
            {isFolded ? 'Show all tasks' : 'Fold groups'}
          </button>
        )}
        {selected !== null && (
          <button type="button" className="button small" onClick={() => openNode(selected)}>
            Open {folded.groups[selected] ?? rows[chosen]?.name}
          </button>
        )}
      </div>
      <Graph
        key={`${isFolded} ${opened}`}
        nodes={nodes}
        edges={folded.edges}
        selected={selected}
        lit={lit}
        label={`Graph of ${rows.length} tasks. The table of tasks has the same in text.`}
        place={at}
        onPlace={(place) => change({ at: place })}
        onSelect={(place) =>
          change({ node: place === null ? undefined : rows[folded.members[place]?.[0] ?? -1]?.name })
        }
        onOpen={openNode}
      />
    </section>
  );
}

function nodeOf({ name, state, instances, attempt, role }: TaskRow): GraphNode {
  const { tone, shape } = lookOf(state);
  const done = instances === null ? 0 : (instances.states.succeeded ?? 0);
  const note = instances !== null ? `${count(done)}/${count(instances.total)}` : attempt > 1 ? `×${attempt}` : '';
  return { label: name, note, tone, shape, isMinor: role !== 'task' };
}

/** A group looks like the task in it that wants attention first. */
function groupNode(label: string, members: readonly number[], rows: readonly TaskRow[]): GraphNode {
  const states = members.map((no) => rows[no]?.state ?? 'blocked');
  const first = states.reduce((known, state) => (rankOf(state) < rankOf(known) ? state : known));
  const done = states.filter((state) => state === 'succeeded').length;
  return { label, note: `${done}/${members.length}`, tone: lookOf(first).tone, shape: 'stack', isMinor: false };
}

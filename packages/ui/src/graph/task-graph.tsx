/** Tasks as a graph to look around in: found by name, folded by group, narrowed to what failed and its neighbours. All of it is in the address. */
import { type ReactNode, useMemo } from 'react';
import { useSearchState } from '../api/search-state.ts';
import { count } from '../parts/format.ts';
import { lookOf, rankOf } from '../parts/states.ts';
import { foldGroups, type Group, outermost } from './fold-groups.ts';
import { Graph } from './graph.tsx';
import { withNeighbours } from './neighbours.ts';
import type { GraphNode } from './paint.ts';

export interface GraphTask {
  readonly name: string;
  /** Null where no run tells. */
  readonly state: string | null;
  readonly node: GraphNode;
}

interface TaskGraphProps {
  readonly tasks: readonly GraphTask[];
  /** Pairs: the task that is needed, then the one that needs it. */
  readonly edges: readonly number[];
  readonly groups: readonly Group[];
  /** The place of the group of each task. */
  readonly groupOf: readonly (number | null)[];
  readonly label: string;
  /** Beside the search. */
  readonly hint?: ReactNode;
  /** A way to more about a task; without it a task is only selected. */
  readonly onOpenTask?: (name: string) => void;
}

export function TaskGraph({ tasks, edges, groups, groupOf, label, hint, onOpenTask }: TaskGraphProps) {
  const [{ q = '', focus, node, groups: folding, open: opened = '', at }, change] = useSearchState();
  const isFolded = folding === 'folded';
  const folded = useMemo(() => {
    const open = new Set(opened.split(',').filter((name) => name !== ''));
    return foldGroups(isFolded ? outermost(groups, groupOf, open) : tasks.map(() => null), edges);
  }, [tasks, edges, groups, groupOf, isFolded, opened]);
  const nodes = useMemo(
    () =>
      folded.members.map((members, place): GraphNode => {
        const group = folded.groups[place] ?? null;
        return group === null ? (tasks[members[0] ?? 0] as GraphTask).node : groupNode(group, members, tasks);
      }),
    [tasks, folded],
  );
  const lit = useMemo(() => {
    if (q === '' && focus !== 'failed') return null;
    const nos = found(tasks, q, focus === 'failed');
    const shown = focus === 'failed' ? withNeighbours(nos, edges) : new Set(nos);
    return new Set([...shown].map((no) => folded.nodeOf[no] ?? 0));
  }, [tasks, edges, q, focus, folded]);
  const chosen = node === undefined ? -1 : tasks.findIndex(({ name }) => name === node);
  const selected = chosen < 0 ? null : (folded.nodeOf[chosen] ?? null);
  const nameAt = (place: number | undefined) => tasks[folded.members[place ?? -1]?.[0] ?? -1]?.name;
  const openNode = (place: number) => {
    const group = folded.groups[place] ?? null;
    if (group !== null) change({ open: opened === '' ? group : `${opened},${group}`, at: undefined });
    else onOpenTask?.(nameAt(place) ?? '');
  };
  const canFold = useMemo(
    () => outermost(groups, groupOf, new Set()).some((group) => group !== null),
    [groups, groupOf],
  );
  const group = selected === null ? null : (folded.groups[selected] ?? null);
  return (
    <section className="card">
      <div className="card-head wrap">
        <input
          type="search"
          className="search"
          placeholder="Find a task  /"
          aria-label="Find a task in the graph"
          value={q}
          onChange={(event) => change({ q: event.target.value })}
          onKeyDown={(event) => {
            // What is in the field now: the page may be a moment behind.
            const [first] = found(tasks, event.currentTarget.value, focus === 'failed');
            if (event.key === 'Enter' && first !== undefined) change({ node: tasks[first]?.name });
          }}
        />
        {lit === null ? hint : <span className="faint small">{count(lit.size)} shown</span>}
        <span className="grow" />
        {tasks.some(({ state }) => state === 'failed') && (
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
        {selected !== null && (group !== null || onOpenTask !== undefined) && (
          <button type="button" className="button small" onClick={() => openNode(selected)}>
            Open {group ?? tasks[chosen]?.name}
          </button>
        )}
      </div>
      <Graph
        key={`${isFolded} ${opened}`}
        nodes={nodes}
        edges={folded.edges}
        selected={selected}
        lit={lit}
        label={label}
        place={at}
        onPlace={(place) => change({ at: place })}
        onSelect={(place) => change({ node: place === null ? undefined : nameAt(place) })}
        onOpen={openNode}
      />
    </section>
  );
}

/** The places of tasks whose name has the words in it. */
const found = (tasks: readonly GraphTask[], words: string, isFailedOnly: boolean): number[] => {
  const wanted = words.toLowerCase();
  return tasks.flatMap(({ name, state }, no) =>
    name.toLowerCase().includes(wanted) && (!isFailedOnly || isBad(state)) ? [no] : [],
  );
};

const isBad = (state: string | null): boolean => state === 'failed' || state === 'upstream_failed';

/** A group looks like the task in it that wants attention first. */
function groupNode(label: string, members: readonly number[], tasks: readonly GraphTask[]): GraphNode {
  const states = members.flatMap((no) => tasks[no]?.state ?? []);
  if (states.length === 0) {
    return { label, note: count(members.length), tone: 'idle', shape: 'stack', isMinor: false };
  }
  const first = states.reduce((known, state) => (rankOf(state) < rankOf(known) ? state : known));
  const done = states.filter((state) => state === 'succeeded').length;
  return { label, note: `${done}/${members.length}`, tone: lookOf(first).tone, shape: 'stack', isMinor: false };
}

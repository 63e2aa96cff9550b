import type { DagDetails } from '@signalbox/protocol';
import { useMemo } from 'react';
import { useSearchState } from '../../api/search-state.ts';
import { Graph } from '../../graph/graph.tsx';
import { TaskSpec } from './task-spec.tsx';

export function DagGraph({ dag }: { readonly dag: DagDetails }) {
  const [{ q = '', node, at: place }, change] = useSearchState();
  const { tasks, groups } = dag;
  const mapped = useMemo(() => new Set(groups.filter(({ map }) => map !== null).map(({ name }) => name)), [groups]);
  const nodes = useMemo(
    () =>
      tasks.map(({ name, role, group }) => {
        const isMapped = group !== null && mapped.has(group);
        return {
          label: name,
          note: isMapped ? 'map' : '',
          tone: 'idle' as const,
          shape: isMapped ? ('stack' as const) : ('hollow' as const),
          isMinor: role !== 'task',
        };
      }),
    [tasks, mapped],
  );
  const edges = useMemo(() => {
    const numbers = new Map(tasks.map(({ name }, no) => [name, no]));
    return tasks.flatMap(({ needs }, no) =>
      needs.flatMap((need) => (numbers.has(need) ? [numbers.get(need) as number, no] : [])),
    );
  }, [tasks]);
  const lit = useMemo(() => {
    const wanted = q.toLowerCase();
    return wanted === ''
      ? null
      : new Set(tasks.flatMap(({ name }, no) => (name.toLowerCase().includes(wanted) ? [no] : [])));
  }, [tasks, q]);
  const at = tasks.findIndex(({ name }) => name === node);
  const task = tasks[at];
  return (
    <>
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
              const [first] = lit ?? [];
              if (event.key === 'Enter' && first !== undefined) change({ node: tasks[first]?.name });
            }}
          />
          <span className="faint small">Click a task to see what it is.</span>
        </div>
        <Graph
          nodes={nodes}
          edges={edges}
          selected={at < 0 ? null : at}
          lit={lit}
          label={`Graph of ${tasks.length} tasks`}
          onSelect={(no) => change({ node: no === null ? undefined : tasks[no]?.name })}
          onOpen={() => undefined}
          place={place}
          onPlace={(next) => change({ at: next })}
        />
      </section>
      {task !== undefined && <TaskSpec task={task} />}
    </>
  );
}

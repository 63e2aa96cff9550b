/** The tasks of a dag and what they need, in the states that the newest run gave them. */
import type { DagDetails } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { columnsQuery, shapeQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { type GraphTask, TaskGraph } from '../../graph/task-graph.tsx';
import { shortId } from '../../parts/format.ts';
import { rowsOf, type TaskRow } from '../run/model.ts';
import { nodeOf } from '../run/run-graph.tsx';
import { TaskSpec } from './task-spec.tsx';

type Newest = ReadonlyMap<string, TaskRow> | null;

export function DagGraph({ dag }: { readonly dag: DagDetails }) {
  const [{ node }] = useSearchState();
  const { tasks, groups, recentRuns } = dag;
  const newestId = recentRuns[0]?.id;
  const newest = useNewest(newestId);
  const shown = useMemo(() => {
    const mapped = new Set(groups.filter(({ map }) => map !== null).map(({ name }) => name));
    return tasks.map((task) => graphTask(task, mapped, newest));
  }, [tasks, groups, newest]);
  const edges = useMemo(() => {
    const numbers = new Map(tasks.map(({ name }, no) => [name, no]));
    return tasks.flatMap(({ needs }, no) =>
      needs.flatMap((need) => (numbers.has(need) ? [numbers.get(need) as number, no] : [])),
    );
  }, [tasks]);
  const folds = useMemo(() => {
    const placeOf = new Map(groups.map(({ name }, place) => [name, place]));
    const find = (name: string | null) => (name === null ? null : (placeOf.get(name) ?? null));
    return {
      groups: groups.map(({ name, group, map }) => ({ name, parent: find(group), mapped: map !== null })),
      groupOf: tasks.map(({ group }) => find(group)),
    };
  }, [tasks, groups]);
  const task = tasks.find(({ name }) => name === node);
  return (
    <>
      <TaskGraph
        tasks={shown}
        edges={edges}
        {...folds}
        label={`Graph of ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`}
        hint={
          <span className="faint small">
            {newestId !== undefined && newest !== null && (
              <>
                As in the newest run,{' '}
                <Link to="/runs/$id" params={{ id: newestId }} className="inline-link" title={newestId}>
                  {shortId(newestId)}
                </Link>
                .{' '}
              </>
            )}
            Click a task to see what it is.
          </span>
        }
      />
      {task !== undefined && <TaskSpec task={task} />}
    </>
  );
}

function graphTask(
  { name, role, group }: DagDetails['tasks'][number],
  mapped: ReadonlySet<string>,
  newest: Newest,
): GraphTask {
  const row = newest?.get(name);
  if (row !== undefined) return { name, state: row.state, node: nodeOf(row) };
  const isMapped = group !== null && mapped.has(group);
  const [note, shape] = isMapped ? (['map', 'stack'] as const) : (['', 'hollow'] as const);
  return { name, state: null, node: { label: name, note, tone: 'idle', shape, isMinor: role !== 'task' } };
}

/** The tasks of that run by name; null until they are known. It may be of another version. */
function useNewest(id: string | undefined): Newest {
  const run = useQuery({ ...columnsQuery(id ?? ''), enabled: id !== undefined }).data;
  const shape = useQuery(shapeQuery(id ?? '', run?.columns.state.length ?? -1)).data;
  return useMemo(
    () => (run === undefined || shape == null ? null : new Map(rowsOf(run, shape).map((row) => [row.name, row]))),
    [run, shape],
  );
}

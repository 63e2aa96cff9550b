import type { RunShape } from '@signalbox/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { GraphNode } from '../../graph/paint.ts';
import { TaskGraph } from '../../graph/task-graph.tsx';
import { count } from '../../parts/format.ts';
import { lookOf } from '../../parts/states.ts';
import type { TaskRow } from './model.ts';

interface RunGraphProps {
  readonly rows: readonly TaskRow[];
  readonly shape: RunShape;
  readonly runId: string;
}

export function RunGraph({ rows, shape, runId }: RunGraphProps) {
  const navigate = useNavigate();
  const tasks = useMemo(() => rows.map((row) => ({ name: row.name, state: row.state, node: nodeOf(row) })), [rows]);
  return (
    <TaskGraph
      tasks={tasks}
      edges={shape.edges}
      groups={shape.groups}
      groupOf={shape.group}
      label={`Graph of ${rows.length} ${rows.length === 1 ? 'task' : 'tasks'}. The table of tasks has the same in text.`}
      onOpenTask={(task) => void navigate({ to: '/runs/$id/tasks/$task', params: { id: runId, task } })}
    />
  );
}

export function nodeOf({ name, state, instances, attempt, role }: TaskRow): GraphNode {
  const { tone, shape } = lookOf(state);
  const done = instances === null ? 0 : (instances.states.succeeded ?? 0);
  const note = instances !== null ? `${count(done)}/${count(instances.total)}` : attempt > 1 ? `×${attempt}` : '';
  return { label: name, note, tone, shape, isMinor: role !== 'task' };
}

/** When each task waited and ran, over the time of the run. The chain that decided how long it took is marked. */
import type { RunShape, TaskView } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Empty } from '../../parts/page.tsx';
import { lookOf } from '../../parts/states.ts';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { criticalPath, type TaskRow } from './model.ts';
import { readyTimes, type Segment, segmentsOf, ticksOf } from './segments.ts';

interface GanttProps {
  readonly rows: readonly TaskRow[];
  readonly shape: RunShape;
  readonly run: { readonly id: string; readonly createdAt: string; readonly endedAt: string | null };
  /** With all attempts; only for runs that are not too large. */
  readonly tasks: readonly TaskView[] | undefined;
}

const ROW = 30;
const KEYS = [
  ['wait', 'waiting'],
  ['tone-fill-ok', 'succeeded'],
  ['tone-fill-bad', 'failed'],
  ['tone-fill-busy', 'running'],
] as const;

export function Gantt({ rows, shape, run, tasks }: GanttProps) {
  const now = useNow();
  const start = Date.parse(run.createdAt);
  const totalMs = Math.max(1, (run.endedAt === null ? now : Date.parse(run.endedAt)) - start);
  const path = useMemo(() => criticalPath(rows, shape.edges), [rows, shape.edges]);
  const ready = useMemo(() => readyTimes(rows, shape.edges), [rows, shape.edges]);
  const byName = useMemo(() => new Map(tasks?.map((task) => [task.name, task])), [tasks]);
  const shown = useMemo(
    () =>
      rows
        .filter(({ claimedMs }) => claimedMs !== null)
        .sort((a, b) => (a.claimedMs ?? 0) - (b.claimedMs ?? 0) || a.no - b.no),
    [rows],
  );
  if (shown.length === 0) return <Empty title="No task has started yet." />;
  const ticks = ticksOf(totalMs);
  return (
    <section className="card gantt">
      <VirtualRows
        count={shown.length}
        height={ROW}
        label="Tasks over time"
        head={
          <div className="gantt-row head" role="row">
            <span role="columnheader">Task</span>
            <span role="columnheader" className="gantt-track" aria-label="Time since the run was created">
              {ticks.map((ms) => (
                <i key={ms} className="tick" style={{ left: `${(ms / totalMs) * 100}%` }}>
                  {span(ms)}
                </i>
              ))}
            </span>
          </div>
        }
      >
        {(index) => {
          const row = shown[index] as TaskRow;
          const segments = segmentsOf(row, byName.get(row.name), ready[row.no] ?? 0, {
            start,
            totalMs,
            nowMs: now - start,
          });
          return (
            <div className={path.has(row.no) ? 'gantt-row critical' : 'gantt-row'}>
              <span role="cell" className="truncate">
                <Link to="/runs/$id/tasks/$task" params={{ id: run.id, task: row.name }} className="name-link">
                  {row.name}
                </Link>
              </span>
              <span role="cell" className="gantt-track">
                {segments.map((segment) => (
                  <Bar key={`${segment.kind} ${segment.fromMs}`} segment={segment} totalMs={totalMs} />
                ))}
              </span>
            </div>
          );
        }}
      </VirtualRows>
      <div className="card-foot small faint gantt-keys">
        {KEYS.map(([look, word]) => (
          <span key={word}>
            <i className={`key ${look}`} />
            {word}
          </span>
        ))}
        <span>
          <b className="critical-key">Bold names</b> are the chain of tasks that decided how long the run took.
        </span>
      </div>
    </section>
  );
}

function Bar({ segment, totalMs }: { readonly segment: Segment; readonly totalMs: number }) {
  const { fromMs, toMs, kind, state, label } = segment;
  const left = (fromMs / totalMs) * 100;
  const width = Math.max(0.15, ((toMs - fromMs) / totalMs) * 100);
  const look = kind === 'wait' ? 'wait' : `tone-fill-${lookOf(state).tone}`;
  return <i className={`bar-segment ${look}`} style={{ left: `${left}%`, width: `${width}%` }} title={label} />;
}

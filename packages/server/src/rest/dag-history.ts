/** The past and the future of one dag: its runs by tasks, how long they took, and when it fires next. */
import type { RunId, TenantId } from '@signalbox/engine';
import {
  type DagGrid,
  type DagHistory,
  dagGridQuerySchema,
  dagHistoryQuerySchema,
  type FiringPage,
  listFiringsSchema,
  parseOr,
  SignalboxError,
} from '@signalbox/protocol';
import type { DagDetails, DagGridRows, GridRow, RunOutline, RunView } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso, toIsoOrNull } from '../iso-instants.ts';
import { STATE_PLACE } from './columns.ts';
import { type DagRequest, findDag } from './dags.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { type Cells, KnownCells } from './known-cells.ts';
import { nextFiringsOf, offsetMinutesAt, type ShownSchedule } from './next-window.ts';
import type { RestParts } from './rest-parts.ts';
import { roleOf } from './task-role.ts';
import { stateOf, tasksOf } from './views.ts';

export function dagHistoryRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;
  const known = new KnownCells();

  app.get('/v1/dags/:name/grid', async (request: DagRequest) => {
    const { tenantId } = callerOf(request);
    const { runs } = parseOr(dagGridQuerySchema, request.query, 'BAD_REQUEST');
    const dag = await findDag(request, parts);
    // Held for as long as the request takes: others may push them out meanwhile.
    const kept = new Map<RunId, Cells>();
    const sizeOfKnown = (run: RunView) => {
      const cells = known.get(run);
      if (cells !== undefined) kept.set(run.runId, cells);
      return cells?.size;
    };
    const rows = await fromDatabase(() => queries.getDagGrid(tenantId, { dag, limit: runs, sizeOfKnown }), request.log);
    return gridAnswer(rows, ({ view, outline }) => {
      if (outline === null) return kept.get(view.runId) as Cells;
      const cells = readCells(outline);
      known.keep(view, cells);
      return cells;
    });
  });

  app.get('/v1/dags/:name/history', async (request: DagRequest) => {
    const { tenantId } = callerOf(request);
    const { runs: most } = parseOr(dagHistoryQuerySchema, request.query, 'BAD_REQUEST');
    const dag = await findDag(request, parts);
    const found = await fromDatabase(() => queries.lastRuns(tenantId, [dag], most), request.log);
    const runs = found.get(dag.dagId) ?? [];
    return {
      ids: runs.map(({ uid }) => uid),
      state: runs.map(stateOf),
      outcome: runs.map(({ outcome }) => outcome),
      createdAt: runs.map(({ createdAt }) => toIso(createdAt)),
      tookMs: runs.map(({ createdAt, endedAt }) => (endedAt === null ? null : endedAt - createdAt)),
      version: runs.map(({ versionNo }) => versionNo),
    } satisfies DagHistory;
  });

  app.get('/v1/dags/:name/firings', async (request: DagRequest) => {
    const { tenantId } = callerOf(request);
    const { count, schedule: named } = parseOr(listFiringsSchema, request.query, 'BAD_REQUEST');
    const { name: dagName, ...dag } = await findDag(request, parts);
    const schedule = named === undefined ? firstOf(dag) : await fromDatabase(() => find(tenantId, named), request.log);
    if (named !== undefined && schedule === null)
      throw new SignalboxError('SCHEDULE_NOT_FOUND', { dag: dagName, reason: named });
    const firings = schedule === null ? [] : nextFiringsOf(schedule, count);
    const items = firings.map(({ firesAt, local, note }) => ({
      firesAt: toIso(firesAt),
      offsetMinutes: offsetMinutesAt(schedule?.spec.zone ?? 'UTC', firesAt),
      local,
      note,
    }));
    return { items, cursor: null } satisfies FiringPage;

    function find(of: TenantId, name: string): Promise<ShownSchedule | null> {
      return queries.findSchedule(of, { dagName, name });
    }
  });
}

const firstOf = ({ dagId, schedules: [first] }: Pick<DagDetails, 'dagId' | 'schedules'>): ShownSchedule | null =>
  first === undefined ? null : { dagId, ...first };

/** Runs that share a spec share a shape. */
function gridAnswer({ runs, isCut }: DagGridRows, cellsOf: (run: GridRow) => Cells): DagGrid {
  const specs = [...new Set(runs.map(({ spec }) => spec))];
  return {
    runs: runs.map((run) => {
      const { view } = run;
      const { states, instances } = cellsOf(run);
      return {
        id: view.uid,
        version: view.versionNo,
        state: stateOf(view),
        outcome: view.outcome,
        createdAt: toIso(view.createdAt),
        endedAt: toIsoOrNull(view.endedAt),
        shape: specs.indexOf(run.spec),
        states: Array.from(states),
        instances,
      };
    }),
    shapes: specs.map(({ tasks }) => ({ names: tasks.map(({ name }) => name), role: tasks.map(roleOf) })),
    cut: isCut,
  };
}

function readCells(outline: RunOutline): Cells {
  const read = tasksOf(outline);
  const { tasks } = outline.spec;
  const mapped = [...read.instances.values()].reduce((sum, { total }) => sum + total, 0);
  return {
    states: Uint8Array.from(tasks, (_, no) => STATE_PLACE.get(read.stateOf(no)) ?? 0),
    instances: Object.fromEntries([...read.instances].map(([no, counts]) => [String(no), counts])),
    size: tasks.length + mapped,
  };
}

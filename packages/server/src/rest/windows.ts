/** What became of the planned times of a dag's schedules. */
import type { Instant, ScheduleNo } from '@signalbox/engine';
import { listWindowsSchema, parseOr, SignalboxError, type WindowPage } from '@signalbox/protocol';
import type { WindowView } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { type DagRequest, findDag } from './dags.ts';
import { fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';

export function windowRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/dags/:name/windows', async (request: DagRequest) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, schedule: name } = parseOr(listWindowsSchema, request.query, 'BAD_REQUEST');
    const { name: dagName } = await findDag(request, parts);
    const named = { dagName, name: name ?? '' };
    const of = name === undefined ? null : await fromDatabase(() => queries.findSchedule(tenantId, named), request.log);
    // One that has removed itself, or was deleted, has left its windows behind under its name.
    const wanted = {
      ...{ dagName, before: placeOf(cursor), limit, scheduleNo: of?.scheduleNo ?? null },
      ...(name !== undefined && of === null && { name }),
    };
    const windows = await fromDatabase(() => queries.listWindows(tenantId, wanted), request.log);
    if (name !== undefined && of === null && windows.length === 0 && cursor === undefined)
      throw new SignalboxError('SCHEDULE_NOT_FOUND', { dag: dagName, reason: name });
    const last = windows.at(-1);
    const next = windows.length < limit || last === undefined ? null : `${last.firesAt}-${last.scheduleNo}`;
    return { items: windows.map(windowAnswer), cursor: next } satisfies WindowPage;
  });
}

/** A cursor is the instant and the schedule of the last one. */
function placeOf(cursor: string | undefined): Pick<WindowView, 'firesAt' | 'scheduleNo'> | null {
  if (cursor === undefined) return null;
  const [firesAt, scheduleNo = 0] = cursor.split('-');
  return { firesAt: Number(firesAt) as Instant, scheduleNo: Math.min(Number(scheduleNo), 2_147_483_647) as ScheduleNo };
}

function windowAnswer(window: WindowView): WindowPage['items'][number] {
  return {
    schedule: window.schedule,
    firesAt: toIso(window.firesAt),
    untilAt: toIso(window.untilAt),
    wallTime: window.wallTime,
    count: window.count,
    skipped: window.skipped,
    run: window.runUid,
    decidedAt: toIso(window.decidedAt),
  };
}

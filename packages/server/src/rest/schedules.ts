/** Schedules: listed, paused and resumed, and the results of their windows. */
import type { Instant } from '@signalbox/engine';
import {
  listSchedulesSchema,
  listWindowsSchema,
  parseOr,
  type SchedulePage,
  type SchedulePaused,
  SignalboxError,
  type WindowPage,
} from '@signalbox/protocol';
import type { WindowView } from '@signalbox/store';
import type { FastifyInstance } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { scheduleAnswer } from './dag-views.ts';
import { type DagRequest, dagNameOf, findDag } from './dags.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export function scheduleRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, dags } = parts;

  app.get('/v1/schedules', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit } = parseOr(listSchedulesSchema, request.query, 'BAD_REQUEST');
    const list = { after: cursor ?? null, limit };
    const found = await fromDatabase(() => queries.listSchedules(tenantId, list), request.log);
    const items = found.map((schedule) => ({ dag: schedule.dagName, ...scheduleAnswer(schedule) }));
    return { items, cursor: found.length < limit ? null : (found.at(-1)?.dagName ?? null) } satisfies SchedulePage;
  });

  app.get('/v1/dags/:name/windows', async (request: DagRequest) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit } = parseOr(listWindowsSchema, request.query, 'BAD_REQUEST');
    const { name: dagName } = await findDag(request, parts);
    const before = cursor === undefined ? null : (Number(cursor) as Instant);
    const windows = await fromDatabase(() => queries.listWindows(tenantId, { dagName, before, limit }), request.log);
    const last = windows.at(-1);
    const next = windows.length < limit || last === undefined ? null : String(last.firesAt);
    return { items: windows.map(windowAnswer), cursor: next } satisfies WindowPage;
  });

  for (const [verb, paused] of [['pause', true] as const, ['resume', false] as const]) {
    app.post(`/v1/dags/:name/schedule/${verb}`, async (request: DagRequest) => {
      const { tenantId, actor } = callerOf(request);
      const name = dagNameOf(request);
      return once<SchedulePaused>(request, parts, {
        target: name,
        make: async () => {
          const place = await fromDatabase(() => dags.find(tenantId, name), request.log);
          if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: name });
          const command = { kind: 'SetSchedulePaused', ...place, tenantId, paused, actor } as const;
          answerOf(await main.command(command, parts.leftMs(request)), 'done', { dag: name });
          return { name, paused };
        },
      });
    });
  }
}

function windowAnswer(window: WindowView): WindowPage['items'][number] {
  return {
    firesAt: toIso(window.firesAt),
    untilAt: toIso(window.untilAt),
    wallTime: window.wallTime,
    count: window.count,
    skipped: window.skipped,
    run: window.runUid,
    decidedAt: toIso(window.decidedAt),
  };
}

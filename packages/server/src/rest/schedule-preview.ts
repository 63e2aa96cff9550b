/** When a schedule would fire. Nothing is stored: the answer is what the engine would decide by. */
import { type Instant, previewSchedule, type TimetableSpec } from '@signalbox/engine';
import {
  parseOr,
  previewScheduleQuerySchema,
  previewScheduleSchema,
  type SchedulePreview,
  SignalboxError,
} from '@signalbox/protocol';
import { zoneData } from '@signalbox/protocol/zones';
import type { FastifyInstance } from 'fastify';
import { fromIso, toShortIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';

export function schedulePreviewRoutes(app: FastifyInstance): void {
  app.get('/v1/schedules/preview', (request) => {
    const { timezone, from, count, ...asked } = parseOr(previewScheduleQuerySchema, request.query, 'BAD_REQUEST');
    return preview({ ...asked, zone: timezone }, from, count);
  });

  app.post('/v1/schedules/preview', (request) => {
    const { schedule, from, count } = parseOr(previewScheduleSchema, request.body, 'BAD_REQUEST');
    return preview(schedule, from, count);
  });

  function preview(spec: TimetableSpec, from: string | undefined, count: number): SchedulePreview {
    const after = (from === undefined ? systemClock.wall() : fromIso(from)) as Instant;
    const previewed = previewSchedule(spec, after, count, zoneData);
    if (!previewed.ok) {
      const { message, remedy } = previewed.fault;
      throw new SignalboxError('SCHEDULE_INVALID', { reason: `${message} ${remedy}` });
    }
    return { firings: previewed.firings.map(({ at, local, note }) => ({ at: toShortIso(at), local, note })) };
  }
}

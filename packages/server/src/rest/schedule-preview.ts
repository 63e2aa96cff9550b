/** When a schedule would fire. Nothing is stored: the answer is what the engine would decide by. */
import { type Instant, previewSchedule, type TimetableSpec } from '@signalbox/engine';
import {
  type ParsedSchedule,
  parseOr,
  previewScheduleQuerySchema,
  previewScheduleSchema,
  type SchedulePreview,
  SignalboxError,
  toScheduleSpec,
} from '@signalbox/protocol';
import type { FastifyInstance } from 'fastify';
import { fromIso, toShortIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { defaultJitterMs } from '../settings/edge-settings.ts';
import { zoneData } from '../zones/edge-zones.ts';

/** What becomes of missed windows says nothing about when a schedule fires. */
const NO_POLICY = { missed: 'most_recent', missedLimit: 1 } as const;

export function schedulePreviewRoutes(app: FastifyInstance): void {
  app.get('/v1/schedules/preview', (request) => {
    const { timezone: zone, from, count, ...asked } = parseOr(previewScheduleQuerySchema, request.query, 'BAD_REQUEST');
    return preview({ ...asked, zone, ...NO_POLICY }, from, count);
  });

  app.post('/v1/schedules/preview', (request) => {
    const { schedule, from, count } = parseOr(previewScheduleSchema, request.body, 'BAD_REQUEST');
    return preview(schedule, from, count);
  });

  function preview(schedule: ParsedSchedule, from: string | undefined, count: number): SchedulePreview {
    const after = (from === undefined ? systemClock.wall() : fromIso(from)) as Instant;
    const options = { defaultJitterMs: defaultJitterMs() };
    const previewed = previewSchedule(toScheduleSpec(schedule) as TimetableSpec, after, count, zoneData, options);
    if (!previewed.ok) {
      const { message, remedy } = previewed.fault;
      throw new SignalboxError('SCHEDULE_INVALID', { reason: `${message} ${remedy}` });
    }
    const firings = previewed.firings.map(({ at, firesAt, local, note }) => {
      const late = firesAt === at ? {} : { firesAt: toShortIso(firesAt) };
      return { at: toShortIso(at), ...late, local, note };
    });
    return { firings };
  }
}

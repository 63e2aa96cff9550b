/** Fields of schedules beside their times: names, and the params and priority of the runs that each creates. */
import { z } from 'zod';
import { nameSchema, prioritySchema } from './common.ts';

export const MAX_DEFINED_SCHEDULES = 100;
/** The name of the one under `schedule`. */
export const DEFAULT_SCHEDULE_NAME = 'default';

export const scheduledRunFields = {
  /** Of the runs that it creates; the defaults of the dag's params unless told. */
  params: z.record(z.string(), z.unknown(), 'must be an object').optional(),
  /** Of the runs that it creates; the dag's unless told. */
  priority: prioritySchema.optional(),
};

/** `schedule-1` for the first in the list, and so on, unless told. */
export const scheduleNameFields = { name: nameSchema.optional() };

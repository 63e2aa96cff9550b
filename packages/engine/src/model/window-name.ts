import type { Instant, ScheduleId } from './ids.ts';

/** Names a window of a schedule, in memory. */
export const windowName = (scheduleId: ScheduleId, at: Instant): string => `${scheduleId}/${at}`;

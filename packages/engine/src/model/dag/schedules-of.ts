import { DEFAULT_SCHEDULE } from '../change/schedule.ts';
import type { DagSpec, NamedSchedule } from './spec.ts';

/** The schedules that a definition has, whether it writes `schedule` or `schedules`. */
export function schedulesOf({ schedule, schedules = [] }: DagSpec): readonly NamedSchedule[] {
  return schedule === null ? schedules : [{ name: DEFAULT_SCHEDULE, spec: schedule }, ...schedules];
}

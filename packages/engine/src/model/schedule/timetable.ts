/** A schedule made ready to be asked when it fires. */
import type { ScheduleSpec } from '../dag/spec.ts';
import { parseCron } from './cron.ts';
import type { Cron, CronProblem } from './cron-type.ts';
import { problem } from './cron-values.ts';
import type { ClockChangePolicy } from './zone.ts';

export type TimetableSpec = Pick<ScheduleSpec, 'cron' | 'zone' | 'gap' | 'overlap'>;

export interface Timetable {
  readonly cron: Cron;
  readonly zone: string;
  readonly changes: ClockChangePolicy;
}

export type CompiledTimetable = { ok: true; timetable: Timetable } | { ok: false; problem: CronProblem };

const DEFAULT_ZONE = 'UTC';

/** `spreadSeed` decides where an `H` of the expression falls: see `parseCron`. */
export function compileTimetable(spec: TimetableSpec, spreadSeed: string): CompiledTimetable {
  const parsed = parseCron(spec.cron, spreadSeed);
  if (!parsed.ok) return parsed;
  const zone = parsed.zone ?? spec.zone;
  if (spec.zone !== DEFAULT_ZONE && spec.zone !== zone) {
    const message = `The expression names the time zone ${zone}, and the schedule names ${spec.zone}.`;
    return { ok: false, problem: problem('zone', 1, message, 'Keep one of the two.') };
  }
  const { gap, overlap = 'first' } = spec;
  return { ok: true, timetable: { cron: parsed.cron, zone, changes: { gap, overlap } } };
}

/** The schedules of a definition, as the engine has them. */
import type { Problem } from '../errors.ts';
import { checkParams } from '../params/check.ts';
import type { ParamsSchema } from '../params/params-schema.ts';
import type { ParsedDagDefinition } from './dag-definition.ts';
import { type ParsedSchedule, type ScheduleSpecShape, toScheduleSpec } from './schedule-fields.ts';

interface ReadSchedules {
  readonly schedule: ScheduleSpecShape | null;
  readonly schedules?: readonly { readonly name: string; readonly spec: ScheduleSpecShape }[];
}

/** The schedules of a definition. `params` is the dag's schema, if it is valid. */
export function readSchedules(
  { schedule, schedules }: ParsedDagDefinition,
  params: ParamsSchema | undefined,
  problems: Problem[],
): ReadSchedules {
  if (schedules === undefined) return { schedule: schedule && readSchedule(schedule, params, 'schedule', problems) };
  if (schedule !== null) {
    problems.push({ path: 'schedules', message: 'stand beside schedule: write all schedules under schedules' });
  }
  const names = new Set<string>();
  const read = schedules.map(({ name = `schedule-${names.size + 1}`, ...one }, no) => {
    if (names.has(name))
      problems.push({ path: `schedules[${no}].name`, message: `is ${name}, as that of another schedule` });
    names.add(name);
    return { name, spec: readSchedule(one, params, `schedules[${no}]`, problems) };
  });
  return { schedule: null, ...(read.length > 0 && { schedules: read }) };
}

/** Checks its params, and fills in the defaults of the dag's schema. */
function readSchedule(
  schedule: ParsedSchedule,
  schema: ParamsSchema | undefined,
  path: string,
  problems: Problem[],
): ScheduleSpecShape {
  const { params } = schedule;
  const checked = schema === undefined ? null : checkParams(schema, params ?? null);
  if (checked !== null && !checked.ok) {
    for (const { path: at, message } of checked.problems) {
      problems.push({ path: `${path}.params`, message: `do not fit the params of the dag: ${at} ${message}` });
    }
  }
  // One that says nothing about params goes by the defaults of each version.
  const text = params === undefined ? null : JSON.stringify(checked?.ok ? checked.params : params);
  return toScheduleSpec(schedule, text);
}

/** Whether two schedules fire at the same times for the same reasons. What they do about missed windows is not asked. */
import type { TimetableSpec } from './schedule-spec.ts';

const FIELDS = [
  'cron',
  'everyMs',
  'anchor',
  'phaseMs',
  'at',
  'zone',
  'gap',
  'overlap',
  'start',
  'end',
  'limit',
  'calendar',
  'jitterMs',
] as const satisfies readonly (keyof TimetableSpec)[];

// A field that is missing above does not compile.
type Missing = Exclude<keyof TimetableSpec, (typeof FIELDS)[number]>;
const noneMissing: [Missing] extends [never] ? true : Missing = true;

export function isSameTiming(a: TimetableSpec, b: TimetableSpec): boolean {
  const [left, right] = [withDefaults(a), withDefaults(b)];
  return noneMissing && FIELDS.every((field) => isEqual(left[field], right[field]));
}

/** Specs of earlier versions lack fields; one expression may stand alone or in a list. */
function withDefaults(spec: TimetableSpec): TimetableSpec {
  const { cron, everyMs, anchor, phaseMs, overlap = 'first' } = spec;
  const rule = everyMs === undefined ? {} : { anchor: anchor ?? 0, phaseMs: phaseMs ?? 0 };
  return { ...spec, ...rule, ...(cron === undefined ? {} : { cron: [cron].flat() }), overlap } as TimetableSpec;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return (
    left.size === right.size && [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key)))
  );
}

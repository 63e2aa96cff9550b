/** A schedule made ready to be asked when it fires. */
import { type Calendar, compileCalendar } from './calendar.ts';
import { CompiledLately } from './compiled-once.ts';
import { parseCron } from './cron.ts';
import type { Cron } from './cron-type.ts';
import { span } from './describe-timing.ts';
import { type FaultOf, fault, isFault } from './fault.ts';
import { parseLocalTime } from './local-time.ts';
import type { TimePoint, TimetableSpec } from './schedule-spec.ts';
import type { ClockChangePolicy } from './zone.ts';

export type { TimetableSpec } from './schedule-spec.ts';

/** A point in time: an instant, or a wall time that becomes one by the data of the zone. */
export type Point = { readonly atMs: number } | { readonly wallMs: number };

export type Rule =
  | { readonly kind: 'cron'; readonly crons: readonly Cron[] }
  | { readonly kind: 'every'; readonly everyMs: number; readonly phaseMs: number; readonly anchor: Point }
  /** Both in order, and each without repeats. */
  | { readonly kind: 'at'; readonly instants: readonly number[]; readonly walls: readonly number[] };

export interface Timetable {
  readonly rule: Rule;
  readonly zone: string;
  readonly changes: ClockChangePolicy;
  readonly start: Point | null;
  readonly end: Point | null;
  readonly limit: number | null;
  readonly calendar: Calendar | null;
  /** Null: the default of the cluster. */
  readonly jitterMs: number | null;
  readonly seed: string;
}

type CompiledTimetable = { readonly ok: true; readonly timetable: Timetable } | FaultOf;

const DEFAULT_ZONE = 'UTC';
const CRONS_LIMIT = 20;
const TIMES_LIMIT = 1_000;
const EVERY_MIN_MS = 1_000;
const EVERY_LIMIT_MS = 3_660 * 86_400_000;
const JITTER_LIMIT_MS = 86_400_000;
const LIMIT_LIMIT = 1_000_000_000;
/** 1970 to 2199, the years that expressions know. */
const LAST_INSTANT = 7_258_118_400_000;

const lately = new CompiledLately<CompiledTimetable>();

/** `seed` names the schedule: it decides where an `H` falls and how jitter is drawn. Needs no zone data. */
export function compileTimetable(spec: TimetableSpec, seed: string): CompiledTimetable {
  return lately.once(spec, seed, () => compile(spec, seed));
}

function compile(spec: TimetableSpec, seed: string): CompiledTimetable {
  const ruled = compileRule(spec, seed);
  if (isFault(ruled)) return ruled;
  const { rule, zone } = ruled;
  const start = compilePoint('start', spec.start);
  if (start !== null && isFault(start)) return start;
  const end = compilePoint('end', spec.end);
  if (end !== null && isFault(end)) return end;
  const calendar = spec.calendar === undefined ? null : compileCalendar(spec.calendar);
  if (calendar !== null && isFault(calendar)) return calendar;
  const limits = limitFault(spec);
  if (limits !== null) return limits;
  const { gap, overlap = 'first', limit = null, jitterMs = null } = spec;
  const changes = { gap, overlap };
  return { ok: true, timetable: { rule, zone, changes, start, end, limit, calendar, jitterMs, seed } };
}

function compileRule(spec: TimetableSpec, seed: string): { rule: Rule; zone: string } | FaultOf {
  const kinds = [spec.cron, spec.everyMs, spec.at].filter((kind) => kind !== undefined).length;
  const remedy = 'Give exactly one of cron, every and at.';
  if (kinds === 0) return fault('cron', 'The schedule does not say when it fires.', remedy);
  if (kinds > 1) {
    const field = spec.everyMs === undefined ? 'at' : 'every';
    const others = spec.cron === undefined ? 'at' : 'cron';
    return fault(field, `The schedule has both ${field} and ${others}.`, `${remedy} For both, write two schedules.`);
  }
  if (spec.everyMs === undefined) {
    const field = spec.anchor !== undefined ? 'anchor' : spec.phaseMs !== undefined ? 'phase' : null;
    if (field !== null) return fault(field, `${field} belongs to every, which is missing.`, `Remove ${field}.`);
  }
  if (spec.cron !== undefined) return compileCrons(spec, [spec.cron].flat(), seed);
  const { zone } = spec;
  const rule = spec.everyMs === undefined ? compileAt(spec.at ?? []) : compileEvery(spec.everyMs, spec);
  return isFault(rule) ? rule : { rule, zone };
}

function compileCrons(
  spec: TimetableSpec,
  expressions: readonly string[],
  seed: string,
): { rule: Rule; zone: string } | FaultOf {
  if (expressions.length === 0 || expressions.length > CRONS_LIMIT) {
    const message = `The schedule has ${expressions.length} cron expressions.`;
    return fault('cron', message, `Give 1 to ${CRONS_LIMIT}.`);
  }
  const crons: Cron[] = [];
  let zone: string | undefined = spec.zone === DEFAULT_ZONE ? undefined : spec.zone;
  for (const [index, expression] of expressions.entries()) {
    const field = typeof spec.cron === 'string' ? 'cron' : `cron[${index}]`;
    const parsed = parseCron(expression, seed);
    if (!parsed.ok) {
      const { at, message, remedy } = parsed.problem;
      const placed = `${message.slice(0, -1)} (column ${at} of "${expression}").`;
      return { ok: false, fault: { field, column: at, message: placed, remedy } };
    }
    crons.push(parsed.cron);
    if (parsed.zone === undefined) continue;
    if (zone !== undefined && zone !== parsed.zone) {
      const other = spec.zone === DEFAULT_ZONE ? 'another expression' : 'the schedule';
      const message = `The expression "${expression}" names the time zone ${parsed.zone}, and ${other} names ${zone}.`;
      return fault('zone', message, 'Keep one of the two. For two zones, write two schedules.');
    }
    zone = parsed.zone;
  }
  return { rule: { kind: 'cron', crons }, zone: zone ?? DEFAULT_ZONE };
}

function compileEvery(everyMs: number, { anchor, phaseMs = 0 }: TimetableSpec): Rule | FaultOf {
  if (!isWhole(everyMs, EVERY_MIN_MS, EVERY_LIMIT_MS)) {
    return fault('every', `The interval is ${span(everyMs)}.`, 'Give 1s to 3660d, such as 15m.');
  }
  if (!isWhole(phaseMs, 0, EVERY_LIMIT_MS) || phaseMs >= everyMs) {
    const message = `The phase of ${span(phaseMs)} is not shorter than the interval of ${span(everyMs)}.`;
    return fault('phase', message, 'Give a phase that is shorter than every.');
  }
  const point = compilePoint('anchor', anchor);
  if (point !== null && isFault(point)) return point;
  return { kind: 'every', everyMs, phaseMs, anchor: point ?? { atMs: 0 } };
}

function compileAt(times: readonly TimePoint[]): Rule | FaultOf {
  if (times.length === 0 || times.length > TIMES_LIMIT) {
    return fault('at', `The schedule has ${times.length} times.`, `Give 1 to ${TIMES_LIMIT}.`);
  }
  const [instants, walls] = [new Set<number>(), new Set<number>()];
  for (const [index, time] of times.entries()) {
    const point = compilePoint(times.length === 1 ? 'at' : `at[${index}]`, time);
    if (point === null) continue;
    if (isFault(point)) return point;
    if ('atMs' in point) instants.add(point.atMs);
    else walls.add(point.wallMs);
  }
  return { kind: 'at', instants: inOrder(instants), walls: inOrder(walls) };
}

function compilePoint(field: string, point: TimePoint | undefined): Point | FaultOf | null {
  if (point === undefined) return null;
  if (typeof point === 'number' && isWhole(point, 0, LAST_INSTANT)) return { atMs: point };
  const wallMs = typeof point === 'string' ? parseLocalTime(point) : undefined;
  if (wallMs !== undefined) return { wallMs };
  const remedy = 'Write 2027-01-01T09:00:00Z, or 2027-01-01T09:00:00 for a time in the zone of the schedule.';
  return fault(field, `${JSON.stringify(point)} is not a time from 1970 to 2199.`, remedy);
}

function limitFault({ limit, jitterMs, everyMs }: TimetableSpec): FaultOf | null {
  if (limit !== undefined && !isWhole(limit, 1, LIMIT_LIMIT)) {
    return fault('limit', `The limit is ${limit}.`, `Give a whole number from 1 to ${LIMIT_LIMIT}.`);
  }
  if (jitterMs === undefined) return null;
  if (!isWhole(jitterMs, 0, JITTER_LIMIT_MS)) {
    return fault('jitter', `The jitter is ${span(jitterMs)}.`, 'Give 0s to 1d, such as 5m.');
  }
  if (everyMs === undefined || jitterMs < everyMs) return null;
  const message = `The jitter of ${span(jitterMs)} is not shorter than the interval of ${span(everyMs)}.`;
  return fault('jitter', message, 'Give a jitter that is shorter than every.');
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function inOrder(values: ReadonlySet<number>): readonly number[] {
  return [...values].sort((a, b) => a - b);
}

/**
 * Parses one field of a cron expression into a set. A field is a list. An item is `*`, a value, a range, one of these with a
 * step, or one of the marks `H`, `L`, `W`, `#` and `?`. The text is upper-case ASCII.
 */
import type { CronProblem } from './cron-type.ts';
import {
  type FieldSpec,
  isDay,
  isProblem,
  isWeekday,
  isYear,
  parseDigits,
  parseRange,
  parseValue,
  problem,
  quote,
  type Range,
  sizeOf,
  span,
} from './cron-values.ts';
import { hashOf } from './spread.ts';

/** Every month has the day so many days before its last. */
const MOST_BEFORE_LAST = 27;

/** Bit 0 of `low` is the least value of the field, bit 0 of `high` the thirtieth after it. */
export type FieldSet = {
  low: number;
  high: number;
  /** Everything matches. */
  any: boolean;
  /** Begins with `*` or `?`. */
  star: boolean;
  lastDays: number;
  nearDays: number;
  nearLastDays: number;
  lastWeekdays: number;
  nthWeekdays: number[];
  years: Set<number>;
};

function emptySet(star: boolean): FieldSet {
  const days = { lastDays: 0, nearDays: 0, nearLastDays: 0 };
  return {
    low: 0,
    high: 0,
    any: false,
    star,
    ...days,
    lastWeekdays: 0,
    nthWeekdays: [0, 0, 0, 0, 0],
    years: new Set(),
  };
}

// A field has few usual texts, such as `*` and `30`. Their sets are kept. Where an `H` falls depends on the schedule.
const KEPT_TEXTS = 256;
const LONGEST_KEPT = 8;
const keptSets = new Map<FieldSpec, Map<string, FieldSet>>();

/** Nobody may alter the set: others have it too. */
export function parseField(
  spec: FieldSpec,
  text: string,
  at: number,
  seed: string | undefined,
): Readonly<FieldSet> | CronProblem {
  let kept = keptSets.get(spec);
  if (kept === undefined) keptSets.set(spec, (kept = new Map()));
  const known = kept.get(text);
  if (known !== undefined) return known;
  const set = readField(spec, text, at, seed);
  if (!isProblem(set) && kept.size < KEPT_TEXTS && text.length <= LONGEST_KEPT && !text.includes('H')) {
    kept.set(text, set);
  }
  return set;
}

function readField(spec: FieldSpec, text: string, at: number, seed: string | undefined): FieldSet | CronProblem {
  const set = emptySet(text.startsWith('*') || text === '?');
  let itemAt = at;
  for (const item of text.split(',')) {
    const fault = item === '?' ? addAny(spec, set, text, itemAt) : addItem(spec, set, item, itemAt, seed);
    if (fault !== undefined) return fault;
    itemAt += item.length + 1;
  }
  return set;
}

function addItem(
  spec: FieldSpec,
  set: FieldSet,
  item: string,
  at: number,
  seed: string | undefined,
): CronProblem | undefined {
  const slash = item.indexOf('/');
  const base = slash < 0 ? item : item.slice(0, slash);
  const baseEnd = at + base.length;
  if (base === '') {
    return problem(spec.name, at, `A ${spec.name} is missing here.`, `Write ${span(spec)}, or remove the stray sign.`);
  }
  const step = slash < 0 ? undefined : parseStep(spec, item.slice(slash + 1), baseEnd + 1, sizeOf(spec));
  if (step !== undefined && isProblem(step)) return step;

  if (base === '*') {
    if (step === undefined || step === 1) set.any = true;
    // All years are no set of 230 numbers: nearly every expression has them.
    if (set.any && isYear(spec)) return undefined;
    return addRange(spec, set, spec.min, spec.max, step ?? 1);
  }
  if (base === 'H' || base.startsWith('H(')) return addSpread(spec, set, base, at, step, seed);
  if (isDay(spec) && (base.startsWith('L') || base.endsWith('W'))) return addDayMark(spec, set, base, at, step);
  if (isDay(spec) && base.endsWith('L')) {
    const remedy = 'Write L alone for the last day of the month, or L-3 for the third before it.';
    return problem(spec.name, at, `${quote(base)} is not a ${spec.name}.`, remedy);
  }
  if (isWeekday(spec) && base.endsWith('L')) return addLastWeekday(spec, set, base, at, step);
  if (base.includes('#')) return addNth(spec, set, base, at, step);

  const dash = base.indexOf('-');
  if (dash >= 0) {
    const range = parseRange(spec, base, at);
    return isProblem(range) ? range : addRange(spec, set, range.from, range.to, step ?? 1);
  }
  const value = parseValue(spec, base, at);
  if (isProblem(value)) return value;
  // A value with a step runs on to the end of the field: `5/20` is 5, 25, 45.
  return addRange(spec, set, value, step === undefined ? value : Math.max(value, spec.max), step ?? 1);
}

function addAny(spec: FieldSpec, set: FieldSet, text: string, at: number): CronProblem | undefined {
  if (!isDay(spec) && !isWeekday(spec)) {
    return problem(spec.name, at, `"?" is for the two day fields only.`, `Write * for any ${spec.name}.`);
  }
  if (text !== '?') return problem(spec.name, at, '"?" stands in a list.', 'Let it stand alone, or remove it.');
  set.any = true;
  return addRange(spec, set, spec.min, spec.max, 1);
}

function addRange(spec: FieldSpec, set: FieldSet, from: number, to: number, step: number): undefined {
  for (let value = from; value <= to; value += step) {
    if (isYear(spec)) {
      set.years.add(value);
      continue;
    }
    const bit = (value - spec.min) % sizeOf(spec); // 7 is Sunday, as 0 is
    if (bit < 30) set.low |= 1 << bit;
    else set.high |= 1 << (bit - 30);
  }
}

/** `L`, `L-3`, `15W`, `LW` and `L-3W`: days that depend on the month. */
function addDayMark(
  spec: FieldSpec,
  set: FieldSet,
  base: string,
  at: number,
  step: number | undefined,
): CronProblem | undefined {
  if (step !== undefined) return noStep(spec, base, at);
  const isNear = base.endsWith('W');
  const day = isNear ? base.slice(0, -1) : base;
  if (!day.startsWith('L')) {
    const value = parseValue(spec, day, at);
    if (isProblem(value)) return value;
    set.nearDays |= 1 << (value - 1);
    return undefined;
  }
  const before = day === 'L' ? 0 : day.startsWith('L-') ? parseDigits(day.slice(2)) : undefined;
  if (before === undefined || before > MOST_BEFORE_LAST) {
    const remedy = `Write L for the last day of the month, L-1 to L-${MOST_BEFORE_LAST} for days before it, LW for the last working day.`;
    return problem(spec.name, at, `${quote(base)} is not a ${spec.name}.`, remedy);
  }
  if (isNear) set.nearLastDays |= 1 << before;
  else set.lastDays |= 1 << before;
  return undefined;
}

function addLastWeekday(
  spec: FieldSpec,
  set: FieldSet,
  base: string,
  at: number,
  step: number | undefined,
): CronProblem | undefined {
  if (step !== undefined) return noStep(spec, base, at);
  if (base === 'L') {
    const remedy = 'Name the day: 5L is the last Friday of the month; for each Saturday write SAT.';
    return problem(spec.name, at, '"L" names no day of the week.', remedy);
  }
  const value = parseValue(spec, base.slice(0, -1), at);
  if (isProblem(value)) return value;
  set.lastWeekdays |= 1 << (value % 7);
  return undefined;
}

function addNth(
  spec: FieldSpec,
  set: FieldSet,
  base: string,
  at: number,
  step: number | undefined,
): CronProblem | undefined {
  if (!isWeekday(spec)) {
    const remedy = 'Use # in day of week only: MON#2 is the second Monday of the month.';
    return problem(spec.name, at, `${quote(base)} is not a ${spec.name}.`, remedy);
  }
  if (step !== undefined) return noStep(spec, base, at);
  const mark = base.indexOf('#');
  const value = parseValue(spec, base.slice(0, mark), at);
  if (isProblem(value)) return value;
  const count = parseDigits(base.slice(mark + 1));
  const held = count === undefined ? undefined : set.nthWeekdays[count - 1];
  if (count === undefined || held === undefined) {
    return problem(
      spec.name,
      at + mark + 1,
      'After # comes which one of the month it is.',
      'Give 1 to 5, as in MON#2.',
    );
  }
  set.nthWeekdays[count - 1] = held | (1 << (value % 7));
  return undefined;
}

function addSpread(
  spec: FieldSpec,
  set: FieldSet,
  base: string,
  at: number,
  step: number | undefined,
  seed: string | undefined,
): CronProblem | undefined {
  let range: Range | CronProblem = { from: spec.min, to: spec.spreadMax ?? spec.max };
  if (base !== 'H') {
    if (!base.endsWith(')')) {
      return problem(spec.name, at + base.length, `${quote(base)} is not closed.`, 'Write it as H(0-29).');
    }
    range = parseRange(spec, base.slice(2, -1), at + 2);
    if (isProblem(range)) return range;
  }
  if (isYear(spec)) return problem(spec.name, at, 'A year can not be spread.', 'Write the years, or *.');
  // Without a seed all would fall on the same second, which is what H is there to prevent.
  if (seed === undefined) {
    return problem(
      spec.name,
      at,
      'H has nothing to spread by here.',
      'Give a seed, such as the id of the schedule, or write a value.',
    );
  }
  const size = range.to - range.from + 1;
  const first = range.from + (hashOf(`${spec.name}:${seed}`) % Math.min(step ?? size, size));
  return addRange(spec, set, first, step === undefined ? first : range.to, step ?? 1);
}

function parseStep(spec: FieldSpec, text: string, at: number, size: number): number | CronProblem {
  const step = parseDigits(text);
  if (step !== undefined && step >= 1 && step <= size) return step;
  // A longer step would fire once in each round of the field, not at the pace that it seems to ask for.
  const message =
    step === undefined ? `${quote(text)} is not a step.` : `A step of ${step} does not fit in this field.`;
  return problem(spec.name, at, message, `Give a whole number from 1 to ${size}.`);
}

function noStep(spec: FieldSpec, base: string, at: number): CronProblem {
  return problem(spec.name, at + base.length, `${quote(base)} takes no step.`, 'Remove the slash and what follows it.');
}

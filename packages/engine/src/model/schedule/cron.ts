// A cron expression as bit sets: five fields, six (seconds first) or seven (the year last), or a macro such as `@daily`.
// `CRON_TZ=Europe/Berlin` before them names the time zone.
//
//   const parsed = parseCron('H/15 9-17 * * MON-FRI', scheduleId);
//   if (parsed.ok) nextWindow(parsed.cron, zone, afterMs);
//
// Two rules are ours to state, since crons differ in them:
//
// - Day of month and day of week go by the rule of Vixie cron: when neither field begins with `*` (or is `?`), a day that
//   matches either one fires; otherwise it must match both. So `0 0 1,15 * MON` fires on Mondays and on both dates, and
//   `0 0 */2 * MON` on Mondays that have an odd date.
// - Every hour (`everyHour`) goes by meaning, not spelling: `*`, `0-23` and `*/1` in the hour field are the same schedule and
//   must have the same windows. What follows from it when clocks change is told in `zone.ts`.

import { type FieldSet, parseField } from './cron-parse.ts';
import type { Cron, CronProblem, ParsedCron } from './cron-type.ts';
import { type FieldSpec, isProblem, problem, quote } from './cron-values.ts';
import { parsedOnce } from './parsed-once.ts';

export { nextWindow, removedWindows } from './zone.ts';

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const secondField: FieldSpec = { name: 'second', min: 0, max: 59, names: [] };
const minuteField: FieldSpec = { name: 'minute', min: 0, max: 59, names: [] };
const hourField: FieldSpec = { name: 'hour', min: 0, max: 23, names: [] };
// `H` stays within the days that every month has; otherwise a spread schedule would miss February without being asked to.
const dayField: FieldSpec = { name: 'day of month', min: 1, max: 31, names: [], spreadMax: 28 };
const monthField: FieldSpec = { name: 'month', min: 1, max: 12, names: monthNames };
const weekdayField: FieldSpec = { name: 'day of week', min: 0, max: 6, names: weekdayNames };
const yearField: FieldSpec = { name: 'year', min: 1970, max: 2199, names: [] };
const fieldSpecs = [secondField, minuteField, hourField, dayField, monthField, weekdayField, yearField];

const macros: ReadonlyMap<string, string> = new Map([
  ['@HOURLY', '0 * * * *'],
  ['@DAILY', '0 0 * * *'],
  ['@MIDNIGHT', '0 0 * * *'],
  ['@WEEKLY', '0 0 * * 0'],
  ['@MONTHLY', '0 0 1 * *'],
  ['@YEARLY', '0 0 1 1 *'],
  ['@ANNUALLY', '0 0 1 1 *'],
]);

/** Six fields that list each of their values have 550 characters; what is much longer is no schedule. */
const lengthLimit = 1000;
const allHours = 0xff_ffff;
const zonePrefixes = ['CRON_TZ=', 'TZ='];
const whole = 'expression';

/**
 * Never throws and takes time linear in the expression. `spreadSeed`, as a rule the schedule's id, decides where `H` falls:
 * the same seed falls on the same place for ever.
 */
export function parseCron(expression: string, spreadSeed?: string): ParsedCron {
  return parsedOnce(expression, () => parse(expression, spreadSeed));
}

function parse(expression: string, spreadSeed: string | undefined): ParsedCron {
  const fault = findForeign(expression);
  if (fault !== undefined) return { ok: false, problem: fault };
  const named = takeZone(splitWords(expression));
  if (isProblem(named)) return refuse(named);
  const parsed = parseWords(
    named.rest.map(({ text, at }) => ({ text: text.toUpperCase(), at })),
    spreadSeed,
  );
  return parsed.ok && named.zone !== undefined ? { ...parsed, zone: named.zone } : parsed;
}

/** `CRON_TZ=Europe/Berlin`, or `TZ=` as some crontabs write it, before the fields. */
function takeZone(words: readonly Word[]): { readonly zone?: string; readonly rest: readonly Word[] } | CronProblem {
  const first = words[0];
  const prefix =
    first === undefined ? undefined : zonePrefixes.find((known) => first.text.toUpperCase().startsWith(known));
  if (first === undefined || prefix === undefined) return { rest: words };
  const zone = first.text.slice(prefix.length);
  if (zone !== '') return { zone, rest: words.slice(1) };
  const remedy = 'Write it as CRON_TZ=Europe/Berlin, without a space.';
  return problem(whole, first.at + prefix.length, `${quote(prefix)} names no time zone.`, remedy);
}

function parseWords(words: readonly Word[], spreadSeed: string | undefined): ParsedCron {
  const first = words[0];
  if (first === undefined) {
    const remedy = 'Write five fields, such as "0 9 * * MON-FRI", or a macro such as @daily.';
    return refuse(problem(whole, 1, 'The expression is empty.', remedy));
  }
  if (first.text.startsWith('@')) return parseMacro(first, words[1]);
  if (words.length < 5 || words.length > 7) return refuse(wrongCount(words));

  const timed = words.length === 5 ? [{ text: '0', at: first.at }, ...words] : [...words];
  if (timed.length === 6) timed.push({ text: '*', at: first.at });
  const sets: Readonly<FieldSet>[] = [];
  for (const [index, spec] of fieldSpecs.entries()) {
    const word = timed[index] ?? first;
    const set = parseField(spec, word.text, word.at, spreadSeed);
    if (isProblem(set)) return refuse(set);
    sets.push(set);
  }
  return { ok: true, cron: assemble(sets as unknown as FieldSets) };
}

type Word = { readonly text: string; readonly at: number };

function refuse(fault: CronProblem): ParsedCron {
  return { ok: false, problem: fault };
}

/** Beyond this check one character is one column, in upper case too. */
function findForeign(expression: string): CronProblem | undefined {
  if (expression.length > lengthLimit) {
    const message = `The expression has ${expression.length} characters.`;
    return problem(
      whole,
      lengthLimit + 1,
      message,
      `Keep it within ${lengthLimit}; ranges and steps are shorter than lists.`,
    );
  }
  for (let index = 0; index < expression.length; index += 1) {
    const code = expression.charCodeAt(index);
    if ((code >= 0x20 && code < 0x7f) || isSpace(code)) continue;
    const shown = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    return problem(
      whole,
      index + 1,
      `The character ${shown} has no place here.`,
      'Use plain letters, digits, spaces and * , - / # ? ( ).',
    );
  }
  return undefined;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function splitWords(text: string): readonly Word[] {
  const words: Word[] = [];
  let start = -1;
  for (let index = 0; index <= text.length; index += 1) {
    const inside = index < text.length && !isSpace(text.charCodeAt(index));
    if (inside && start < 0) start = index;
    if (!inside && start >= 0) {
      words.push({ text: text.slice(start, index), at: start + 1 });
      start = -1;
    }
  }
  return words;
}

function parseMacro(word: Word, next: Word | undefined): ParsedCron {
  const fields = macros.get(word.text);
  if (fields === undefined) {
    const remedy = 'Use @hourly, @daily, @weekly, @monthly or @yearly, or write the fields out.';
    return refuse(problem(whole, word.at, `${quote(word.text)} is not a macro.`, remedy));
  }
  if (next !== undefined) {
    return refuse(
      problem(whole, next.at, `${quote(next.text)} follows a macro.`, 'A macro stands alone: remove what follows it.'),
    );
  }
  return parseWords(splitWords(fields), undefined);
}

function wrongCount(words: readonly Word[]): CronProblem {
  const extra = words[7];
  if (extra !== undefined) {
    const message = `The expression has ${words.length} fields; seven is the most.`;
    const remedy = 'Write five fields, six with the second first, or seven with the year last.';
    return problem(whole, extra.at, message, remedy);
  }
  const last = words[words.length - 1];
  const at = last === undefined ? 1 : last.at + last.text.length;
  const message = `The expression has ${words.length} of five fields.`;
  return problem(whole, at, message, 'Write minute, hour, day of month, month and day of week; * stands for any.');
}

type Field = Readonly<FieldSet>;
type FieldSets = readonly [Field, Field, Field, Field, Field, Field, Field];

function assemble([seconds, minutes, hours, days, months, weekdays, years]: FieldSets): Cron {
  return Object.freeze({
    secondsLow: seconds.low,
    secondsHigh: seconds.high,
    minutesLow: minutes.low,
    minutesHigh: minutes.high,
    hours: hours.low,
    everyHour: hours.low === allHours,
    days: days.low | (days.high << 30),
    lastDays: days.lastDays,
    nearDays: days.nearDays,
    nearLastDays: days.nearLastDays,
    anyDay: days.any,
    months: months.low,
    weekdays: weekdays.low,
    lastWeekdays: weekdays.lastWeekdays,
    nthWeekdays: Object.freeze([...weekdays.nthWeekdays]),
    anyWeekday: weekdays.any,
    bothDays: days.star || weekdays.star,
    years: years.any ? null : years.years,
  });
}

/** The parts of all items of a cron field: numbers, names, ranges, and the sentences of a refusal. */
import type { CronProblem } from './cron-type.ts';

export type FieldSpec = {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The first name stands for `min`. */
  readonly names: readonly string[];
  readonly spreadMax?: number;
};

export function problem(field: string, at: number, message: string, remedy: string): CronProblem {
  return { field, at, message, remedy };
}

export function isProblem(value: object | number): value is CronProblem {
  return typeof value === 'object' && 'remedy' in value;
}

/** What the caller wrote, short enough for a sentence. */
export function quote(text: string): string {
  return `"${text.length > 20 ? `${text.slice(0, 20)}…` : text}"`;
}

/** `to` may lie beyond the field: a range that wraps, such as FRI-MON, goes on at the field's beginning. */
export type Range = { readonly from: number; readonly to: number };

export function parseRange(spec: FieldSpec, text: string, at: number): Range | CronProblem {
  const dash = text.indexOf('-');
  if (dash < 0) return problem(spec.name, at, `${quote(text)} is not a range.`, `Write it as ${spec.min}-${spec.max}.`);
  const from = parseValue(spec, text.slice(0, dash), at);
  if (isProblem(from)) return from;
  const to = parseValue(spec, text.slice(dash + 1), at + dash + 1);
  if (isProblem(to)) return to;
  if (from <= to) return { from, to };
  if (!isYear(spec)) return { from, to: to + sizeOf(spec) };
  return problem(spec.name, at, `The range ${quote(text)} runs backwards.`, `Write ${to}-${from}.`);
}

/** How many values the field has. */
export function sizeOf(spec: FieldSpec): number {
  return spec.max - spec.min + 1;
}

export function parseValue(spec: FieldSpec, text: string, at: number): number | CronProblem {
  const max = isWeekday(spec) ? 7 : spec.max;
  const number = parseDigits(text);
  if (number !== undefined && number >= spec.min && number <= max) return number;
  const named = spec.names.indexOf(text);
  if (named >= 0) return spec.min + named;
  const shown = text === '' ? 'Nothing' : quote(text);
  return problem(
    spec.name,
    at,
    `${shown} is not ${spec.name === 'hour' ? 'an' : 'a'} ${spec.name}.`,
    `Give ${span(spec)}.`,
  );
}

export function parseDigits(text: string): number | undefined {
  if (text.length === 0 || text.length > 4) return undefined; // no field has values of more than four digits
  let value = 0;
  for (let index = 0; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

export function span(spec: FieldSpec): string {
  const numbers = `${spec.min} to ${isWeekday(spec) ? 7 : spec.max}`;
  return spec.names.length === 0 ? numbers : `${numbers}, or ${spec.names[0]} to ${spec.names.at(-1)}`;
}

export function isDay(spec: FieldSpec): boolean {
  return spec.name === 'day of month';
}

export function isWeekday(spec: FieldSpec): boolean {
  return spec.name === 'day of week';
}

export function isYear(spec: FieldSpec): boolean {
  return spec.name === 'year';
}

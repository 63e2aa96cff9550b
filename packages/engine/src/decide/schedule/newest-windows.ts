/** Windows of the past, found without looking at all of them. */
import { assert } from '../../model/assert.ts';
import type { Instant } from '../../model/ids.ts';
import type { Window } from '../../model/schedule/window-after.ts';
import type { Schedule } from '../../tables/schedule/schedule.ts';
import { nextOf } from '../../tables/schedule/watch-schedule.ts';
import type { State } from '../../tables/state.ts';

/** By when windows fire, or by their nominal time. The two differ by jitter. */
export type By = keyof Window;

/**
 * The last `wanted` windows after `decidedUntil` that fire until then. Looks back over growing spans, and halfway again where one
 * holds far too many: so a year off costs no more than a day, and an expression that fires each second, or only in January, too.
 */
export function newestWindows(
  state: State,
  schedule: Schedule,
  { until, wanted, by = 'firesAt' }: { readonly until: Instant; readonly wanted: number; readonly by?: By },
): readonly Window[] {
  if (wanted <= 0) return [];
  const most = 4 * wanted + 100;
  // Of the spans tried: the longest that held too few, the shortest that held too many.
  let [tooShort, tooLong] = [0, Number.POSITIVE_INFINITY];
  for (let spanMs = 60_000; ; spanMs = nextSpan(tooShort, tooLong)) {
    const from = Math.max(schedule.decidedUntil, until - spanMs) as Instant;
    const found = windowsBetween(state, schedule, { from, until, most, by });
    if (found.length === most) tooLong = spanMs;
    else if (found.length >= wanted || from === schedule.decidedUntil) return found.slice(-wanted);
    else tooShort = spanMs;
    assert(tooShort < tooLong - 1, 'windows lie a millisecond apart or more');
  }
}

function nextSpan(tooShort: number, tooLong: number): number {
  return tooLong === Number.POSITIVE_INFINITY ? tooShort * 4 : Math.floor((tooShort + tooLong) / 2);
}

interface Span {
  readonly from: Instant;
  readonly until: Instant;
  readonly most: number;
  readonly by?: By;
}

/** The windows after `from` that fire until then, the first `most` of them. */
export function windowsBetween(
  state: State,
  schedule: Schedule,
  { from, until, most, by = 'firesAt' }: Span,
): readonly Window[] {
  const found: Window[] = [];
  let next = nextOf(state, schedule, from);
  for (; next !== null && next[by] <= until && found.length < most; next = nextOf(state, schedule, next.at)) {
    found.push(next);
  }
  return found;
}

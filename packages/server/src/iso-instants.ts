/**
 * Instants as text and back. Only this file and `ports/clock.ts` use `Date`: lint bars it everywhere else in the server, so
 * nothing reads its own clock.
 */

/** The second that was written last: the instants of a run are close together, and `Date` takes five times as long. */
let lastSecond = Number.NaN;
let lastText = '';

/** @example toIso(0) // '1970-01-01T00:00:00.000Z' */
export function toIso(atMs: number): string {
  const second = Math.floor(atMs / 1_000);
  const ms = atMs - second * 1_000;
  if (!Number.isInteger(ms)) return new Date(atMs).toISOString();
  if (second !== lastSecond) {
    // Of an instant that no `Date` can hold it throws, and nothing is kept.
    lastText = new Date(second * 1_000).toISOString().slice(0, -4);
    lastSecond = second;
  }
  return `${lastText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}

export const toIsoOrNull = (atMs: number | null): string | null => (atMs === null ? null : toIso(atMs));

/** Without milliseconds where there are none. */
export const toShortIso = (atMs: number): string => toIso(atMs).replace('.000Z', 'Z');

/** NaN for a text that is no instant. */
export const fromIso = (text: string): number => Date.parse(text);

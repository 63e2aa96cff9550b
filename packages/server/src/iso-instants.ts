/**
 * Instants as text and back. Only this file and `ports/clock.ts` use `Date`: lint bars it everywhere else in the server, so
 * nothing reads its own clock.
 */

/** @example toIso(0) // '1970-01-01T00:00:00.000Z' */
export const toIso = (atMs: number): string => new Date(atMs).toISOString();

export const toIsoOrNull = (atMs: number | null): string | null => (atMs === null ? null : toIso(atMs));

/** Without milliseconds where there are none. */
export const toShortIso = (atMs: number): string => toIso(atMs).replace('.000Z', 'Z');

/** NaN for a text that is no instant. */
export const fromIso = (text: string): number => Date.parse(text);

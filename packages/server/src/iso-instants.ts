/**
 * Instants as text and back. With `ports/clock.ts` the only file of the server that knows `Date`: lint bars it everywhere
 * else, so that nothing reads a clock of its own.
 */

/** @example toIso(0) // '1970-01-01T00:00:00.000Z' */
export const toIso = (atMs: number): string => new Date(atMs).toISOString();

export const toIsoOrNull = (atMs: number | null): string | null => (atMs === null ? null : toIso(atMs));

/** NaN for a text that is no instant. */
export const fromIso = (text: string): number => Date.parse(text);

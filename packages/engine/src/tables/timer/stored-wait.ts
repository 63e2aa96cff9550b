/**
 * A wait that is stored is two instants of one clock: when it was decided, and until when it lasts. Clocks of two owners differ, and
 * one may be set while it owns, so neither is ever compared with an instant of another decision. How long the wait is, the
 * two say exactly; how much of it is over, a new owner can only guess by its own clock, and never takes for more than all of it
 * (I40, I41, I53).
 */
interface StoredWait {
  readonly from: number;
  readonly until: number;
}

/** What is left of it for a new owner. */
export function waitLeftMs({ now }: { readonly now: number }, { from, until }: StoredWait): number {
  return Math.min(Math.max(until - now, 0), Math.max(until - from, 0));
}

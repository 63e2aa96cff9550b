/**
 * What became true. Durable changes are stored, all of a batch in one commit, and are the journal; `apply` turns them into
 * state. What a change implies (a task made ready, a task that will never run) is derived, never stored: see
 * `propagate/derive.ts`. Each kind has one description, in `change/`.
 */
export type * from './change/added.ts';
export type * from './change/attempt.ts';
export type * from './change/backfill.ts';
export type * from './change/dag.ts';
export type * from './change/dead-letter.ts';
export type * from './change/deadline.ts';
export type * from './change/held.ts';
export type * from './change/kinds.ts';
export type * from './change/manual.ts';
export type * from './change/map.ts';
export type * from './change/payload.ts';
export type * from './change/run.ts';
export type * from './change/schedule.ts';
export type * from './change/shard.ts';
export type * from './change/speculative.ts';

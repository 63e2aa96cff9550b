/**
 * What became true. Durable changes are stored, all of a batch in one commit, and are the journal; `apply` turns them into
 * state. What a change implies (a task made ready, a task that will never run) is derived, never stored: see
 * `propagate/derive.ts`. Each kind has one description, in `change/`.
 */
export type * from './change/kinds.ts';

/** What a store must provide to be tested: several nodes on one database, and control over the bytes between them. */
import type { Store } from '../port.ts';

/** Places in the life of one commit, between a node and its database. */
export const HOLD_POINTS = [
  'before begin',
  'after fence',
  'between writes',
  'before commit',
  'after commit before the answer',
] as const;
export type HoldPoint = (typeof HOLD_POINTS)[number];

/** Whether a commit that is stopped there has taken effect. */
export function isDoneAt(point: HoldPoint): boolean {
  return point === 'after commit before the answer';
}

/** Whether a commit that is stopped there has the locks of its shards. */
export function isLockedAt(point: HoldPoint): boolean {
  return point === 'after fence' || point === 'between writes' || point === 'before commit';
}

export interface Held {
  /** Resolves when a commit has been stopped there. */
  reached(): Promise<void>;
  /** The bytes go on, however late. */
  release(): void;
  /** The bytes are lost, and both sides see their connection end. */
  cut(): void;
}

export interface StoreSubject {
  /** A store of its own connections, as another node would have it. */
  open(): Promise<Store>;
  /** The next commit of the store that gets there is stopped; what follows it on the same connection waits behind it. */
  hold(store: Store, point: HoldPoint): Promise<Held>;
  /** How many transactions wait for a lock at this moment. */
  waitingForLock(): Promise<number>;
  /** Every connection and lock is gone, what was committed stays. Resolves when the database takes connections again. */
  restartDatabase(): Promise<void>;
  close(): Promise<void>;
}

/** One sentence of the suite. Throws when the store does not keep it, so that a sabotaged store can be shown to fail. */
export interface Check {
  readonly name: string;
  readonly run: (subject: StoreSubject) => Promise<void>;
}

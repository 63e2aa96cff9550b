/** A checker looks at a history from outside, as it happens, and says what is wrong. One file for each group of promises. */
import type { Change } from '@signalbox/engine';
import type { JournaledCommit, JournaledTake } from '../fake-store/index.ts';
import type { Happening } from '../world/happening.ts';
import type { World } from '../world/world.ts';
import type { Health } from './health.ts';
import type { Ledger } from './ledger.ts';

export interface Scene {
  readonly world: World;
  readonly ledger: Ledger;
  readonly health: Health;
  /** Something is wrong. */
  fail(invariant: string, message: string): void;
}

export interface Checker {
  readonly invariants: readonly string[];
  /** Before the books have it. */
  onChange?(change: Change, commit: JournaledCommit): void;
  /** All changes of the commit are in the books. */
  onCommit?(commit: JournaledCommit): void;
  /** Before the books have it. */
  onTake?(take: JournaledTake): void;
  onHappening?(happening: Happening): void;
  /** Twice a second of simulated time. */
  onLook?(): void;
  /** Faults are over for good, since that time. */
  onHealed?(): void;
  atEnd?(): void;
}

export type CheckerMaker = (scene: Scene) => Checker;

/** An attempt that runs outside the worker's own process, and how the worker controls it. */
import type { StopReason } from '@signalbox/sdk';

export interface Execution {
  /** Asks it to stop. Its result is still reported. */
  stop(reason: StopReason): void;
  /** Ends it by force, with all that it started. False where that can't be done: its end is not waited for. */
  kill(): boolean;
  /** If it has not begun, it is not begun here any more, and ends as returned. */
  withdraw?(): void;
}

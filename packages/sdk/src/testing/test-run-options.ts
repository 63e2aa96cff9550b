/** The options of a run in a test. */
import type { Testable } from './definition.ts';
import type { Stub } from './stubs.ts';
import type { TestWindow } from './test-window.ts';

export interface TestRunOptions<Params = unknown> {
  readonly params?: Params;
  /** In place of tasks, by name. Processes and HTTP calls need one. */
  readonly stubs?: Readonly<Record<string, Stub>>;
  /**
   * Dags that tasks run by name; those that were imported are known. Stubs for their tasks are named after both, as in
   * `'load-north/fetch'`.
   */
  readonly dags?: readonly Testable[];
  readonly secrets?: Readonly<Record<string, string>>;
  /** The window that the run is for; its data interval begins at `start`, or is empty without one. */
  readonly window?: TestWindow;
  /** What the clock shows at the start; 2026-01-01T00:00:00Z unless told. */
  readonly now?: Date | string;
  /** A number that all chance is drawn from, such as that of backoffs: the same number, the same run. */
  readonly seed?: number;
  /** Real time after which a function that has not settled counts as hanging; 4 s unless told. */
  readonly patienceMs?: number;
}

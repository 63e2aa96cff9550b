/** What a simulated task is told about its work. */

/** What the definition says of a task beside its handler. */
export interface SimulatedWork {
  /** Names of the tasks that a branch chooses among. */
  readonly chooses?: readonly string[];
  readonly stops?: boolean;
  readonly adds?: AddingWork;
}

/** What the code of a task that adds knows of its dag. */
export interface AddingWork {
  readonly templates: readonly string[];
  readonly tasks: readonly string[];
  /** Those that need it, and have not begun as long as it runs. */
  readonly below: readonly string[];
}

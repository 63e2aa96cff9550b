/** The result of a run in a test, in the terms of production. */
import type { RunOutcome, TaskState } from '@signalbox/engine';
import type { AttemptEnd, LogLine } from './attempt.ts';

export interface TestProgress {
  readonly fraction: number | null;
  readonly note: string;
}

export interface TestAttempt {
  readonly task: string;
  /** 1, 2, 3 … */
  readonly number: number;
  readonly outcome: AttemptEnd;
  /** What it threw, as it was thrown; null when it succeeded. */
  readonly error: unknown;
  readonly log: readonly LogLine[];
  /** What it told by `progress()`, in order. */
  readonly progress: readonly TestProgress[];
  readonly startedAt: Date;
  readonly endedAt: Date;
}

export interface TestTask {
  readonly name: string;
  readonly state: TaskState;
  /** What the next tasks got; null when it did not succeed, or returned nothing. */
  readonly output: unknown;
  readonly attempts: readonly TestAttempt[];
  /** The one of its last attempt. */
  readonly error: unknown;
  readonly log: readonly LogLine[];
}

export interface RunFacts {
  readonly outcome: RunOutcome;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly tasks: readonly string[];
  readonly states: ReadonlyMap<string, TaskState>;
  readonly outputs: ReadonlyMap<string, unknown>;
  readonly attempts: readonly TestAttempt[];
}

export class TestRun {
  readonly outcome: RunOutcome;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** In the order of the dag. */
  readonly tasks: readonly TestTask[];
  /** All tasks, in the order in which they ended. */
  readonly attempts: readonly TestAttempt[];

  constructor({ outcome, startedAt, endedAt, tasks, states, outputs, attempts }: RunFacts) {
    this.outcome = outcome;
    this.startedAt = startedAt;
    this.endedAt = endedAt;
    this.attempts = attempts;
    this.tasks = tasks.map((name) => {
      const own = attempts.filter(({ task }) => task === name);
      const last = own.at(-1);
      return {
        name,
        state: states.get(name) ?? 'blocked',
        output: outputs.get(name) ?? null,
        attempts: own,
        error: last?.error ?? null,
        log: last?.log ?? [],
      };
    });
  }

  /** By the test's clock. */
  get elapsedMs(): number {
    return this.endedAt.getTime() - this.startedAt.getTime();
  }

  /** Throws for a name that the dag does not have. */
  task(name: string): TestTask {
    const found = this.tasks.find((task) => task.name === name);
    if (found !== undefined) return found;
    throw new Error(`There is no task ${name}; the tasks are ${this.tasks.map((task) => task.name).join(', ')}.`);
  }
}

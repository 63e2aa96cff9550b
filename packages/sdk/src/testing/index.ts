/** For unit tests of dags: runs on the production engine, with a clock that jumps and stubs for outside systems. */
export type { AttemptEnd, LogLine } from './attempt.ts';
export type { Testable } from './definition.ts';
export { type RunTaskOptions, runTask } from './run-task.ts';
export { nextWindows, scheduleFault } from './schedule.ts';
export { type Stub, takes } from './stubs.ts';
export type { TestAttempt, TestProgress, TestRun, TestTask } from './test-result.ts';
export { testRun } from './test-run.ts';
export type { TestRunOptions } from './test-run-options.ts';

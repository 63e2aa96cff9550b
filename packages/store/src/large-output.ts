/**
 * Outputs that are too large for a report. They are stored before it, in payload rows of their run that nothing refers to
 * until the report is committed. Then the output of the task is `@<row>:<bytes>`, which is not valid JSON, so the two can't
 * be confused. Rows that no report refers to are removed with the run.
 */
import type { RunId } from '@signalbox/engine';

/** Below the numbers of params and checkpoints. */
const FIRST_ROW = -1_000_000_000;
const ROWS = 1_000_000_000;

export interface LargeOutput {
  /** Its number among the payloads of the run. */
  readonly row: number;
  readonly bytes: number;
}

export function largeOutputText({ row, bytes }: LargeOutput): string {
  return `@${row}:${bytes}`;
}

/** Null for an output that stands there itself. */
export function readLargeOutput(text: string): LargeOutput | null {
  if (!text.startsWith('@')) return null;
  const [row, bytes] = text.slice(1).split(':').map(Number);
  return Number.isInteger(row) && Number.isInteger(bytes) ? { row: row as number, bytes: bytes as number } : null;
}

/** Any of a thousand million: which one is free is seen when it is taken. */
export const someRow = (chance: number): number => FIRST_ROW - Math.floor(chance * ROWS);

export interface OutputsOfRun {
  readonly runId: RunId;
  /** Numbers of tasks, in the order in which their outputs are wanted. */
  readonly nos: readonly number[];
  /** What comes back ends once it has this many bytes; the first always comes. */
  readonly bytesLimit: number;
}

import type { RunId, TaskNo } from '../ids.ts';

/** The params of a run, or the output of a task. */
export interface PayloadRow {
  readonly runId: RunId;
  /** Null for params. */
  readonly taskNo: TaskNo | null;
  readonly body: string;
}

/** An output that may replace an earlier one; null where there is none any more (I36). */
export type ReplacedPayload = Omit<PayloadRow, 'body'> & { readonly body: string | null };

/** The outcome of a run is fixed. One that waited for its key leaves it here: a new owner takes whoever has a row for waiting (I7). */
import type { RunClosing } from '../../model/change.ts';
import type { RunRow } from '../../model/ids.ts';
import { ADMITTED } from '../../tables/run/run-table.ts';
import type { Recorder } from '../recorder.ts';
import { recordKey } from './run-key.ts';

export function recordClosing(
  recorder: Recorder,
  run: RunRow,
  closing: Pick<RunClosing, 'outcome' | 'actor'> & Partial<Pick<RunClosing, 'graceMs'>>,
): void {
  const { runs, now } = recorder.state;
  recorder.record({ kind: 'RunClosing', runId: runs.id[run]!, ...closing, at: now });
  if (!runs.has(run, ADMITTED)) recordKey(recorder, run, { isLive: false, isActive: false });
}

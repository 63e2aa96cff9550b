/** How long a run waits for what its window requires. */
import type { RunRow } from '../../model/ids.ts';
import { readRunNotes } from '../../model/run/run-notes.ts';
import type { State } from '../state.ts';
import { waitLeftMs } from '../timer/stored-wait.ts';

/** It is looked at with the next tick. Its row has the two instants of the wait: when it was created, and until when it waits. */
export function waitForRequirements(state: State, run: RunRow): void {
  const { runs, mono } = state;
  const { requires } = readRunNotes(runs.notes.get(run));
  const leftMs = waitLeftMs(state, { from: runs.createdAt[run]!, until: requires?.until ?? 0 });
  state.requires.add(run, { dagId: runs.versionOf(run).dag.id, lookAt: mono, endsAt: mono + leftMs });
}

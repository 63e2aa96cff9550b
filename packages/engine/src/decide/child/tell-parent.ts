/** Tells the shard of the parent that a child run has ended. If the message is lost, the parent asks again. */

import type { ParentRef } from '../../model/command.ts';
import type { RunId, RunRow } from '../../model/ids.ts';
import { RUN_OUTCOMES } from '../../model/run/phase.ts';
import type { StoredRun } from '../../model/stored.ts';
import { IS_GIVEN_UP, SUCCEEDED } from '../../model/task/task-states.ts';
import { viewOf } from '../../propagate/move.ts';
import type { State } from '../../tables/state.ts';
import { forEachSlot, taskSpecOf } from '../../tables/task/task-slots.ts';
import { slotAt } from '../../tables/task/task-table.ts';
import type { TellParent } from '../effect.ts';
import { outputsFromOutside } from '../map/claim.ts';
import type { Recorder } from '../recorder.ts';

const NAMES_TOLD = 5;

/** Does nothing for a run that no other waits for. */
export function tellParent(recorder: Recorder, run: RunRow): void {
  const { state } = recorder;
  const { runs, tasks } = state;
  const parent = runs.parents.get(run);
  if (parent === undefined || !parent.waits) return;
  const { dag } = runs.versionOf(run);
  const failed = new Set<string>();
  forEachSlot(state, run, (slot) => {
    if (IS_GIVEN_UP[tasks.state[slot]!] === 1 && failed.size < NAMES_TOLD) failed.add(taskSpecOf(state, slot).name);
  });
  const end = RUN_OUTCOMES[runs.outcome[run]! - 1]!;
  const child = { dag: dag.name, runId: runs.id[run]!, uid: runs.uidOf(run) };
  const outputs = end === 'succeeded' ? leavesOf(state, run) : [];
  recorder.send({ kind: 'TellParent', parent, ...child, end, outputs, failed: [...failed] });
}

/** What no other task needs is what the run was for; what only closes it is not. */
function leavesOf(state: State, run: RunRow): TellParent['outputs'] {
  const { graph, spec } = state.runs.versionOf(run);
  const base = state.runs.base[run]!;
  return spec.tasks.flatMap(({ name }, no) => {
    if (graph.below(no).length > 0 || graph.closing?.has(no) === true) return [];
    if (graph.maps !== null) {
      const at = outputsFromOutside(viewOf(state, run), no);
      return at === null ? [] : [{ name, at }];
    }
    return state.tasks.state[slotAt(base, no)] === SUCCEEDED ? [{ name, at: { of: 'task', no } as const }] : [];
  });
}

export function tellSetAside(recorder: Recorder, parent: ParentRef, child: RunRow | StoredRun): void {
  if (!parent.waits) return;
  const { runs, dags } = recorder.state;
  const known =
    typeof child === 'number'
      ? { dag: runs.versionOf(child).dag.name, runId: runs.id[child] as RunId, uid: runs.uidOf(child) }
      : { dag: dags.get(child.dagId)?.name ?? '', runId: child.runId, uid: child.uid };
  recorder.send({ kind: 'TellParent', parent, ...known, end: 'set_aside', outputs: [], failed: [] });
}

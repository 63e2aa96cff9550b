/** A child run has ended: the shard of its parent is told. Lost on the way, it is asked for again from there. */
import type { ParentRef } from '../command.ts';
import type { RunId, TaskNo } from '../ids.ts';
import type { Recorder } from '../recorder.ts';
import { RUN_OUTCOMES } from '../run/phase.ts';
import { forEachSlot, taskNoOf, taskSpecOf } from '../run/task-slots.ts';
import type { StoredRun } from '../stored.ts';
import { FAILED, SUCCEEDED } from '../task/task-table.ts';

const NAMES_TOLD = 5;

/** Does nothing for a run that no other waits for. */
export function tellParent(recorder: Recorder, run: number): void {
  const { state } = recorder;
  const { runs, tasks } = state;
  const parent = runs.parents.get(run);
  if (parent === undefined || !parent.waits) return;
  const { dag, graph } = runs.versionOf(run);
  const outputs: { taskNo: TaskNo; name: string }[] = [];
  const failed: string[] = [];
  forEachSlot(state, run, (slot) => {
    const taskNo = taskNoOf(state, slot);
    const { name } = taskSpecOf(state, slot);
    if (tasks.state[slot] === SUCCEEDED && graph.below(taskNo).length === 0) outputs.push({ taskNo, name });
    if (tasks.state[slot] === FAILED && failed.length < NAMES_TOLD) failed.push(name);
  });
  const end = RUN_OUTCOMES[runs.outcome[run]! - 1]!;
  const child = { dag: dag.name, runId: runs.id[run] as RunId, uid: runs.uidOf(run) };
  recorder.send({ kind: 'TellParent', parent, ...child, end, outputs: end === 'succeeded' ? outputs : [], failed });
}

export function tellSetAside(recorder: Recorder, parent: ParentRef, child: number | StoredRun): void {
  if (!parent.waits) return;
  const { runs, dags } = recorder.state;
  const known =
    typeof child === 'number'
      ? { dag: runs.versionOf(child).dag.name, runId: runs.id[child] as RunId, uid: runs.uidOf(child) }
      : { dag: dags.get(child.dagId)?.name ?? '', runId: child.runId, uid: child.uid };
  recorder.send({ kind: 'TellParent', parent, ...known, end: 'set_aside', outputs: [], failed: [] });
}

/**
 * A window can require that runs of other dags have succeeded. Its run is created when the window fires, and waits without a place
 * among the active runs until all requirements are met, or until its time is over: then the policy of the schedule applies. The
 * other dags may live on other shards. What became of them is read from the database, and asked for again and again: a run that
 * has succeeded stays so, so an answer that is a little old is late at worst.
 */
import { type Actor, type Instant, type RunRow, scheduleIdOf } from '../../model/ids.ts';
import { requirementName } from '../../model/requirement-name.ts';
import { readRunNotes } from '../../model/run/run-notes.ts';
import type { Requirement, RequiresNote } from '../../model/schedule/requirement.ts';
import type { Need, RequirementKey } from '../../model/stored.ts';
import type { State } from '../../tables/state.ts';
import type { Recorder } from '../recorder.ts';
import { cancelRun } from '../run/cancel.ts';
import { recordClosing } from '../run/record-closing.ts';
import { stopRunning } from '../run/stop-running.ts';

/** Runs that one tick looks at. */
const LOOK = 32;
/** How often a run that waits is looked at. */
const CHECK_MS = 5_000;
const SCHEDULE = 'schedule' as Actor;
/** Runs of the first schedule of a dag do not name it. */

export function* requirementNeeds(state: State): Generator<Need> {
  if (!state.requires.isUsed) return;
  for (const run of state.requires.due(state.mono, LOOK)) {
    const { shard } = state.runs.versionOf(run).dag;
    for (const one of noteOf(state, run).of) yield { kind: 'requirement', shard, ...keyOf(state, run, one) };
  }
}

function noteOf({ runs }: State, run: RunRow): RequiresNote {
  return readRunNotes(runs.notes.get(run)).requires!;
}

/** Within a time means: before the window fired, and since. */
function keyOf({ runs }: State, run: RunRow, { dag, withinMs, window }: Requirement): RequirementKey {
  const { tenantId } = runs.versionOf(run).dag;
  const at = runs.windows.get(run)?.at ?? (runs.createdAt[run] as Instant);
  if (window === 'same') return { tenantId, dag, since: null, window: at };
  return { tenantId, dag, since: (at - (withinMs ?? 0)) as Instant, window: null };
}

/** With a tick: runs whose requirements are met begin, and the others wait, or are decided by their policy. */
export function checkRequirements(recorder: Recorder): void {
  const { state } = recorder;
  if (!state.requires.isUsed) return;
  for (const run of state.requires.due(state.mono, LOOK)) {
    if (recorder.isFull()) return;
    const { of, unmet: policy, lookMs = CHECK_MS } = noteOf(state, run);
    const answers = of.map((one) => recorder.requirements.get(requirementName(keyOf(state, run, one))));
    // It became due since the needs were asked: the next tick sees.
    if (answers.some((isMet) => isMet === undefined)) continue;
    const unmet = of.filter((_, i) => answers[i] === false).map(({ dag }) => dag);
    if (unmet.length > 0 && !state.requires.isOver(run, state.mono)) {
      state.requires.lookAgain(run, state.mono, lookMs);
      continue;
    }
    settle(recorder, run, [...new Set(unmet)], policy);
  }
}

function settle(recorder: Recorder, run: RunRow, unmet: readonly string[], policy: RequiresNote['unmet']): void {
  const { state } = recorder;
  const { runs, now } = state;
  const runId = runs.id[run]!;
  const { requires: _requires, ...rest } = readRunNotes(runs.notes.get(run));
  const notes = JSON.stringify({ ...rest, ...(unmet.length === 0 ? {} : { unmet }) });
  state.currentRun = runId;
  recorder.record({ kind: 'RequirementsChecked', runId, notes, at: now });
  if (unmet.length === 0 || policy === 'run') return;
  const { tenantId } = runs.versionOf(run).dag;
  if (policy === 'skip') {
    skipWindow(recorder, run);
    cancelRun(recorder, { kind: 'CancelRun', tenantId, runId, actor: SCHEDULE });
  } else {
    recordClosing(recorder, run, { outcome: 'failed', actor: SCHEDULE });
    stopRunning(recorder, run);
  }
}

/** Its window says why nothing ran (I2). */
function skipWindow(recorder: Recorder, run: RunRow): void {
  const { runs, schedules, now } = recorder.state;
  const { shard, id: dagId } = runs.versionOf(run).dag;
  const window = runs.windows.get(run);
  if (window === undefined) return;
  const scheduleNo = runs.scheduleNoOf(run);
  const name = schedules.get(scheduleIdOf({ dagId, scheduleNo }))?.name ?? null;
  recorder.record({
    kind: 'WindowSkipped',
    ...{ shard, dagId, scheduleNo, name, firesAt: window.at },
    ...{ runId: runs.id[run]!, skipped: 'unmet', at: now },
  });
}

/** Decides when maps expand (once their source has ended) and how far they are unfolded. */
import { MAX_RUN_TASKS } from '../../model/dag/spec.ts';
import type { RunRow } from '../../model/ids.ts';
import { resolveMap } from '../../propagate/map/resolve.ts';
import { viewOf } from '../../propagate/move.ts';
import { type Expansion, numberIn, RUN_SCOPE, type RunMaps } from '../../tables/map/run-maps.ts';
import { note } from '../../tables/map/watch-map.ts';
import { ADMITTED, OPEN } from '../../tables/run/run-table.ts';
import type { MapToDo } from '../../tables/state.ts';
import { countTasks } from '../halt/halt.ts';
import type { Recorder } from '../recorder.ts';

/** Task numbers are stored in 32 bits. */
const LAST_NO = 2 ** 31 - 1;

/** A share of each in turn, within what one step may make: a large map holds nobody up. */
export function expandMaps(recorder: Recorder): void {
  const { state } = recorder;
  let left = state.settings.unfoldPerStep;
  for (const [key, map] of [...state.agenda.maps]) {
    if (left <= 0 || recorder.isFull()) return;
    state.agenda.maps.delete(key);
    left -= advance(recorder, map, left);
  }
}

/** Answers how many tasks it has made. What is left is noted again, behind the others. */
function advance(recorder: Recorder, map: MapToDo, most: number): number {
  const { state } = recorder;
  const { runs } = state;
  const run = runs.find(map.runId);
  // A run that waits to be admitted has time; what is left of one that is closed is not made.
  if (run < 0 || runs.phase[run] !== OPEN || !runs.has(run, ADMITTED)) return 0;
  const { dag } = runs.versionOf(run);
  // Noted again when the dag is resumed.
  if (dag.isHalted) return 0;
  const maps = runs.mapsOf(run)!;
  state.currentRun = map.runId;
  const expansion = maps.find(map.group, map.scope) ?? expand(recorder, run, maps, map);
  if (expansion === undefined || expansion.unfolded === expansion.total) return 0;
  const members = expansion.group.members.length;
  const count = Math.min(expansion.total - expansion.unfolded, Math.max(1, Math.floor(most / members)));
  const until = expansion.unfolded + count;
  recorder.record({ kind: 'MapUnfolded', runId: map.runId, firstNo: expansion.firstNo, until, at: state.now });
  countTasks(recorder, dag, count * members);
  if (until < expansion.total) note(state, run, map.group, map.scope);
  return count * members;
}

function expand(recorder: Recorder, run: RunRow, maps: RunMaps, map: MapToDo): Expansion | undefined {
  const { state } = recorder;
  const { runId, group, scope } = map;
  const { members } = maps.shape.groups[group]!;
  const placeholder = scope === RUN_SCOPE ? members[0]! : inScope(maps, scope, members[0]!);
  if (placeholder === undefined) return undefined;
  const found = resolveMap(viewOf(state, run), placeholder);
  if (found.is !== 'known' || found.total === 0) return undefined;
  const size = found.total * members.length;
  const isTooMuch = maps.taskTotal + size > MAX_RUN_TASKS || maps.nextNo + size > LAST_NO;
  const firstNo = maps.nextNo;
  const total = isTooMuch ? 0 : found.total;
  const where = scope === RUN_SCOPE ? null : scope;
  recorder.record({ kind: 'MapExpanded', runId, group, scope: where, firstNo, total, at: state.now });
  return maps.find(group, scope);
}

/** Undefined when the instance is gone. */
function inScope(maps: RunMaps, scope: number, spec: number): number | undefined {
  const around = maps.holding(scope);
  if (around === undefined) return undefined;
  return numberIn(around, Math.floor((scope - around.firstNo) / around.group.members.length), spec);
}

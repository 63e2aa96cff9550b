/** What a task can learn about its run. */

import { PRIORITIES } from '../../model/dag/spec.ts';
import { type Instant, instantOfUid, type RunRow, type RunUid, type ScheduleNo, shardOfUid } from '../../model/ids.ts';
import type { State } from '../../tables/state.ts';
import type { RunInfo } from '../effect.ts';
import { type ScheduleRef, uidOfWindow } from './create.ts';

const FIRST = 1 as ScheduleNo;

export function runInfoOf({ runs }: State, run: RunRow): RunInfo {
  const ref = { dagId: runs.versionOf(run).dag.id, scheduleNo: runs.scheduleNos.get(run) ?? FIRST };
  return {
    createdAt: runs.createdAt[run] as Instant,
    priority: PRIORITIES[runs.priority[run]!]!,
    window: windowOf(runs.uidOf(run), ref),
  };
}

/** The uid of a scheduled run is made from its window and nothing else: so it tells whether it is one, and of which. */
export function windowOf(uid: RunUid, ref: ScheduleRef): Instant | null {
  const at = instantOfUid(uid);
  return uidOfWindow(shardOfUid(uid), ref, at) === uid ? at : null;
}

/** What a task can learn about its run. */

import { PRIORITIES } from '../../model/dag/spec.ts';
import type { Instant, RunRow, ScheduleNo } from '../../model/ids.ts';
import type { State } from '../../tables/state.ts';
import type { RunInfo } from '../effect.ts';
import { windowOf } from './window-uid.ts';

const FIRST = 1 as ScheduleNo;

export function runInfoOf({ runs }: State, run: RunRow): RunInfo {
  const ref = { dagId: runs.versionOf(run).dag.id, scheduleNo: runs.scheduleNos.get(run) ?? FIRST };
  return {
    createdAt: runs.createdAt[run] as Instant,
    priority: PRIORITIES[runs.priority[run]!]!,
    window: windowOf(runs.uidOf(run), ref),
  };
}

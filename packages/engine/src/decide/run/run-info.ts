/** What a task can learn about its run. */

import { PRIORITIES } from '../../model/dag/spec.ts';
import { type DagId, type Instant, instantOfUid, type RunRow, type RunUid, shardOfUid } from '../../model/ids.ts';
import type { State } from '../../tables/state.ts';
import type { RunInfo } from '../effect.ts';
import { uidOfWindow } from './create.ts';

export function runInfoOf({ runs }: State, run: RunRow): RunInfo {
  return {
    createdAt: runs.createdAt[run] as Instant,
    priority: PRIORITIES[runs.priority[run]!]!,
    window: windowOf(runs.uidOf(run), runs.versionOf(run).dag.id),
  };
}

/** The uid of a scheduled run is made from its window and nothing else: so it tells whether it is one, and of which. */
export function windowOf(uid: RunUid, dagId: DagId): Instant | null {
  const at = instantOfUid(uid);
  return uidOfWindow(shardOfUid(uid), dagId, at) === uid ? at : null;
}

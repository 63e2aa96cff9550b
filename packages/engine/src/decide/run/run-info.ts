/** What a task can learn about its run. */

import { PRIORITIES } from '../../model/dag/spec.ts';
import type { Instant, RunRow } from '../../model/ids.ts';
import type { State } from '../../tables/state.ts';
import type { RunInfo } from '../effect.ts';

export function runInfoOf({ runs }: State, run: RunRow): RunInfo {
  return {
    createdAt: runs.createdAt[run] as Instant,
    priority: PRIORITIES[runs.priority[run]!]!,
    window: runs.windows.get(run) ?? null,
    unmet: runs.notes.get(run)?.unmet ?? null,
    assets: runs.notes.get(run)?.assets ?? null,
  };
}

import { type RunId, type ShardNo, shardOfRun } from '../ids.ts';
import type { ChangeGroup } from './define.ts';
import { type Change, kindOf } from './kinds.ts';
import { FoldedRows } from './rows.ts';

export function foldRows(changes: readonly Change[]): FoldedRows {
  const rows = new FoldedRows();
  for (const change of changes) {
    const kind = kindOf(change);
    kind.rows(change, rows);
    kind.tables?.(change, rows.tables);
  }
  return rows;
}

/**
 * Changes that need the row as it was left go with no other change of their run: see `ChangeGroup`. So a batch that holds
 * such is written in parts, one after the other; all other batches, which is nearly all of them, in one.
 */
export function partsOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  if (changes.every((change) => kindOf(change).group === 'plain')) return [changes];
  const parts: Change[][] = [[]];
  let groups = new Map<RunId, ChangeGroup>();
  let keys = new Set<string>();
  for (const change of changes) {
    const runId = 'runId' in change ? change.runId : null;
    const { group, rowKey } = kindOf(change);
    const key = rowKey?.(change);
    if (runId !== null && ((groups.get(runId) ?? group) !== group || (key !== undefined && keys.has(key)))) {
      parts.push([]);
      [groups, keys] = [new Map(), new Set()];
    }
    parts.at(-1)?.push(change);
    if (runId !== null) groups.set(runId, group);
    if (key !== undefined) keys.add(key);
  }
  return parts;
}

/** The shard that a change belongs to: the commit that writes it locks that shard. */
export function shardOfChange(change: Change): ShardNo {
  return 'shard' in change ? change.shard : shardOfRun(change.runId);
}

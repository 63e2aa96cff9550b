/**
 * Sorts commits into an order in which they can have happened: of two commits that share a shard, the one with the lower
 * number comes first.
 */
import type { ShardNo } from '@signalbox/engine';
import type { Commit, Cut } from '@signalbox/store';

export interface OrderedCommit {
  readonly commit: Commit;
  readonly before: Cut;
  readonly after: Cut;
}

/** As many of them as follow the cut without a hole. The one that `first` leads comes first, if one may. */
export function inOrder(cut: Cut, commits: readonly Commit[], first: ShardNo | null): OrderedCommit[] {
  const waiting = new Map<ShardNo, Commit[]>();
  for (const commit of commits) {
    const queue = waiting.get(commit.lead);
    if (queue === undefined) waiting.set(commit.lead, [commit]);
    else queue.push(commit);
  }
  const ordered: OrderedCommit[] = [];
  let now = cut;
  const tryNext = (lead: ShardNo): boolean => {
    const [next] = waiting.get(lead) ?? [];
    if (next === undefined || !next.shards.every(({ shard, commitNo }) => now[shard] === commitNo - 1)) return false;
    const after = [...now];
    for (const { shard, commitNo } of next.shards) after[shard] = commitNo;
    ordered.push({ commit: next, before: now, after });
    now = after;
    waiting.get(lead)?.shift();
    return true;
  };
  if (first !== null) tryNext(first);
  for (let moved = true; moved; ) {
    moved = false;
    for (const lead of waiting.keys()) while (tryNext(lead)) moved = true;
  }
  return ordered;
}

/**
 * Which node should own which shard. Each shard belongs to the node with the highest score for it, so few shards move when
 * nodes come and go.
 */
import { type NodeId, SHARD_COUNT, type ShardNo } from '@signalbox/engine';

export function placeShards(nodes: readonly NodeId[]): (NodeId | null)[] {
  return Array.from({ length: SHARD_COUNT }, (_, shard) => bestNode(shard as ShardNo, nodes));
}

function bestNode(shard: ShardNo, nodes: readonly NodeId[]): NodeId | null {
  let best: NodeId | null = null;
  let bestScore = -1;
  for (const node of nodes) {
    const score = scoreOf(node, shard);
    if (score > bestScore || (score === bestScore && best !== null && node < best)) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}

function scoreOf(node: NodeId, shard: ShardNo): number {
  let h = 0x811c9dc5 ^ Math.imul(shard + 1, 0x9e3779b1);
  for (let i = 0; i < node.length; i++) h = Math.imul(h ^ node.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return (h ^ (h >>> 15)) >>> 0;
}

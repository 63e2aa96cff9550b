/**
 * Which nodes should own shards: all of them, unless some reach no worker at all while others do. A node that is cut off
 * from the gateways of all workers can start nothing while the cut lasts, although all nodes reach the database.
 *
 * All nodes decide from the same rows of the database, so they agree without talking to each other. If there is a node,
 * there is an able node: with no worker at all, or with one that nobody can use, all nodes are equally able (I18).
 */
import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';

/** Which of these living nodes should own shards. */
export function ableNodes(nodes: readonly NodeSeen[]): readonly NodeSeen[] {
  const staying = nodes.filter(({ leaving }) => !leaving);
  // A server of an older version does not tell, and places shards without looking: what the others give up it would not take.
  if (nodes.some(({ reach }) => reach === null)) return staying;
  const gateways = nodes.filter(({ reach }) => reach?.hasWorkers === true);
  const able = staying.filter((node) => gateways.some((gateway) => reachEachOther(node, gateway)));
  return able.length > 0 ? able : staying;
}

/** Both ways: an owner tells its demand over its own link, and gets slots and reports over the gateway's. */
function reachEachOther(one: NodeSeen, other: NodeSeen): boolean {
  return !isCut(one, other.nodeId) && !isCut(other, one.nodeId);
}

function isCut({ reach }: NodeSeen, from: NodeId): boolean {
  return reach?.cutFrom.includes(from) ?? false;
}

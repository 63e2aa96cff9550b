/**
 * Which nodes should own shards. All of them, unless some reach no worker at all while others do: a node that is cut off from
 * the gateways of all workers could start nothing for as long as the cut lasts, though everybody reaches the database.
 *
 * Everybody decides by the same rows of the database, so nodes agree on it without a word between them. There is always
 * an able node when there is a node: with no worker anywhere, or with one that nobody can use, all are as able as each other (I18).
 */
import type { NodeId } from '@signalbox/engine';
import type { NodeSeen } from '@signalbox/store';

/** Of these nodes, all alive, those that should own shards. */
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

/**
 * How well the world is: since when all is in order (for promises that hold within a time when nothing is in the way), and
 * for how long each shard had an owner that could work (for promises whose time stands still without one).
 */
import type { NodeId, ShardNo, State } from '@signalbox/engine';
import type { World } from '../world/world.ts';
import type { Ledger } from './ledger.ts';

/** How often it is looked at. */
export const LOOK_MS = 500;

export class Health {
  readonly #world: World;
  readonly #ledger: Ledger;
  /** Time in which a shard had an owner that could work, looked at every so often. */
  readonly #served = new Float64Array(64);
  #wellSince: number | null = null;
  #isSick: () => boolean = () => false;

  constructor(world: World, ledger: Ledger) {
    this.#world = world;
    this.#ledger = ledger;
  }

  /** Some fault is on. */
  whenSick(isSick: () => boolean): void {
    this.#isSick = isSick;
  }

  look(): void {
    const { now } = this.#world;
    const isWell =
      !this.#isSick() && this.#world.nodes.every((node) => !node.isWanted || (node.isUp && !node.process.isPaused));
    if (!isWell) this.#wellSince = null;
    else this.#wellSince ??= now;
    if (this.isDatabaseSick()) return;
    const able = this.#ableNodes();
    for (const [shard, { owner, epoch }] of this.#ledger.shards) {
      if (owner !== null && able.get(owner)?.get(shard)?.epoch === epoch) this.#served[shard]! += LOOK_MS;
    }
  }

  /** The nodes that run, each with the shards that it has in memory. */
  #ableNodes(): Map<NodeId, State['shards']> {
    const able = new Map<NodeId, State['shards']>();
    for (const { nodeId, isUp, process, host } of this.#world.nodes) {
      const shards = isUp && !process.isPaused ? host?.inspect()?.shards : undefined;
      if (shards !== undefined && nodeId !== null) able.set(nodeId, shards);
    }
    return able;
  }

  /** Something has just changed for good: time to recover from it begins. */
  disturbed(): void {
    this.#wellSince = null;
  }

  /** How long no fault has been on. */
  wellForMs(): number {
    return this.#wellSince === null ? 0 : this.#world.now - this.#wellSince;
  }

  servedMs(shard: ShardNo): number {
    return this.#served[shard]!;
  }

  isDatabaseSick(): boolean {
    const { database } = this.#world;
    return database.outage !== null || database.readOnly || database.slowness > 1;
  }
}

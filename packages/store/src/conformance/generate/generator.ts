/**
 * Draws changes that are valid after one another, from a seed. Several in a row may speak of one task or one run, so that
 * a batch holds whole lives: created, claimed, returned, claimed again, ended.
 */
import type { Change, Instant, RunId, ShardNo } from '@signalbox/engine';
import type { Model } from '../model.ts';
import { Chance } from './chance.ts';
import { deployIn } from './dag-rules.ts';
import { type AnyRule, RULES } from './rules.ts';
import { World } from './world.ts';

interface GeneratorOptions {
  readonly seed: number;
  readonly shards: readonly ShardNo[];
  readonly start: Instant;
  readonly newRunId: (shard: ShardNo) => RunId;
}

const WEIGHT = RULES.reduce((sum, { weight }) => sum + weight, 0);

export class Generator {
  readonly #world: World;

  constructor({ seed, shards, start, newRunId }: GeneratorOptions) {
    this.#world = new World(new Chance(seed, start), shards, newRunId);
  }

  get model(): Model {
    return this.#world.model;
  }

  get now(): Instant {
    return this.#world.chance.now;
  }

  leap(ms: number): void {
    this.#world.chance.leap(ms);
  }

  /** The next batch; the model already has it. */
  batch(size: number): readonly Change[] {
    const world = this.#world;
    for (const shard of world.shards)
      if (!world.dags.some((dag) => dag.shard === shard)) world.emit('DagDeployed', deployIn(world, shard));
    while (world.changeCount < size) this.#drawRule().emit(world);
    return world.takeChanges();
  }

  #drawRule(): AnyRule {
    let left = this.#world.chance.below(WEIGHT);
    for (const rule of RULES) {
      left -= rule.weight;
      if (left < 0) return rule;
    }
    throw new Error('The weights of the rules do not add up.');
  }
}

/**
 * Which shards this node owns. A few times a second it reads heartbeats and owners, takes shards that it should own and that
 * have no living owner, and releases shards that another node should own (D2, D5). After a failure it takes its shards again
 * under a higher epoch and loads them from the database. There is no other way to recover (I16).
 */
import {
  adoptShards,
  dropShards,
  type EngineSettings,
  type Epoch,
  type NodeId,
  type RunId,
  type ShardNo,
  State,
  shardOfRun,
  WAITS_SINCE,
} from '@signalbox/engine';
import type {
  ClusterSeen,
  NodeReach,
  NodeRegistration,
  NodeSeen,
  ShardSeen,
  Store,
  TakenShard,
} from '@signalbox/store';
import type { Directory } from '../directory.ts';
import type { Clock, LeaseRenewer, Log, ShardEpoch, Unfit } from '../ports.ts';
import type { Turns } from '../turn/turns.ts';
import { ableNodes } from './able-nodes.ts';
import { Liveness } from './liveness.ts';
import { type Loaded, type LoadSizes, loadShards, quarantine, restoreWithCare } from './load.ts';
import { placeShards } from './placement.ts';

interface OwnershipPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly renewer: LeaseRenewer;
  readonly turns: Turns;
  readonly directory: Directory;
  readonly settings: EngineSettings;
  readonly loadSizes: LoadSizes;
  readonly node: NodeRegistration;
  /** Which other nodes and workers this one reaches. */
  readonly reach: () => NodeReach;
  readonly unfit: Unfit;
  /** The living nodes. Links are opened to them. */
  readonly onNodes: (seen: ClusterSeen['nodes']) => void;
  /** The engine has begun anew, and knows of no worker. */
  readonly onBegan: () => void;
  /** These shards are ours now: workers are asked what they run of them. */
  readonly onTaken: (epochs: readonly ShardEpoch[]) => void;
  /** Shards are free to be taken: others should look. */
  readonly onReleased: () => void;
  /** All memory of the node's shards is gone. */
  readonly onDropped: () => void;
}

const OBSERVE_MS = 500;
const RETRY_MS = 200;
const TICK_MS = 250;
const SHARD_LEASE_MS = 3_000;
const LOCK_TIMEOUT_MS = 1_000;

export class Ownership {
  private readonly ports: OwnershipPorts;
  private readonly liveness: Liveness;
  /** The epoch of each shard that is or was ours, and the first one since which it has been ours without a break. */
  private readonly held = new Map<ShardNo, { readonly epoch: Epoch; readonly since: Epoch }>();
  /** Runs that this process has touched with care, and lives. */
  private readonly survived = new Set<RunId>();
  private isLeaving = false;
  private isAble = true;
  private areToldByAll = false;
  private placed: { readonly key: string; readonly wanted: (NodeId | null)[] } | null = null;
  private isStopped = false;
  private isRunning = false;
  private isKicked = false;
  private cancelTimer: (() => void) | null = null;
  private cancelTick: (() => void) | null = null;

  constructor(ports: OwnershipPorts) {
    this.ports = ports;
    this.liveness = new Liveness(ports.node.nodeId, SHARD_LEASE_MS);
  }

  async start(): Promise<void> {
    const { store, renewer, node } = this.ports;
    await store.registerNode(node);
    renewer.start(node.nodeId);
    this.tick();
    this.kick();
  }

  /** Lets go of everything in order: others have it within a second (I18). */
  async stop(): Promise<void> {
    this.isLeaving = true;
    const { store, node, turns, renewer, log } = this.ports;
    try {
      await store.markLeaving(node.nodeId);
      while (this.isRunning) await new Promise<void>((resolve) => this.ports.clock.after(10, resolve));
      const state = turns.current();
      if (state !== null) await this.release([...state.shards.keys()]);
    } catch (error) {
      log('warn', 'The node could not let go of its shards in order; others take them when its lease is over.', {
        error: String(error),
      });
    }
    this.isStopped = true;
    this.cancelTimer?.();
    this.cancelTick?.();
    turns.halt('the node stops');
    await renewer.stop();
    await store.forgetNode(node.nodeId).catch(() => undefined);
  }

  /**
   * Whether nobody else can have decided about the shard since it was at this epoch. A command that waited here through
   * another node's ownership may have been sent again, done there, and overtaken by later ones (I6, I11).
   */
  hasHeldSince(shard: ShardNo, epoch: Epoch): boolean {
    const held = this.held.get(shard);
    return held !== undefined && this.ports.turns.owns(shard) && held.since <= epoch && epoch <= held.epoch;
  }

  /**
   * Each server writes with a run whether it waits for others. One of an older version that is started now refuses the schema, so none
   * comes back.
   */
  areWaitsTold(): boolean {
    return this.areToldByAll;
  }

  /** Looks at once instead of at the next round. */
  kick(): void {
    this.isKicked = true;
    this.schedule(0);
  }

  /** The loop has stopped: memory is dropped here and now, and taken anew as soon as the database answers. */
  recover(reason: string): void {
    this.ports.log('warn', 'The node drops its memory and loads again.', { reason });
    this.ports.turns.halt(reason);
    this.ports.onDropped();
    this.kick();
  }

  async runOnce(): Promise<void> {
    const { store, clock, directory, turns, node } = this.ports;
    let seen: ClusterSeen;
    try {
      seen = await store.observe();
    } catch (error) {
      this.liveness.lostSight();
      throw error;
    }
    this.liveness.read(seen.nodes, clock.mono());
    directory.update(seen.shards);
    this.areToldByAll = seen.nodes.every(({ journalFormat }) => (journalFormat ?? 0) >= WAITS_SINCE);
    this.ports.onNodes(seen.nodes.filter((other) => !this.liveness.isDead(other.nodeId)));
    if (this.isLeaving) return;
    if (!seen.nodes.some((other) => other.nodeId === node.nodeId)) await store.registerNode(node);
    if (this.hasLost(seen.shards)) return this.recover('another node has taken a shard');
    await this.tellReach(seen);
    if (await this.standsBack(seen)) return;
    const wanted = this.placesOf(this.candidates(seen));
    const mine = seen.shards.filter((shard) => this.mayTake(shard, wanted, seen));
    if (mine.length > 0) await this.take(mine);
    const held = [...(turns.current()?.shards.keys() ?? [])];
    const leaving = held.filter((shard) => wanted[shard] !== node.nodeId && wanted[shard] !== null);
    if (leaving.length > 0) await this.release(leaving);
    await this.forgetDead(seen);
  }

  /**
   * A node that is unfit owns nothing. It is marked as leaving, so that the others place its shards among themselves; once it
   * is fit again it registers anew.
   */
  private async standsBack({ nodes }: ClusterSeen): Promise<boolean> {
    const { store, node, turns, log, unfit } = this.ports;
    const reason = unfit();
    const isMarked = nodes.some((other) => other.nodeId === node.nodeId && other.leaving);
    if (reason === null) {
      if (isMarked) {
        log('info', 'This server may own shards again.');
        await store.registerNode(node);
      }
      return false;
    }
    if (!isMarked) {
      log('error', 'This server gives up its shards and takes none.', { reason });
      await store.markLeaving(node.nodeId);
    }
    const held = [...(turns.current()?.shards.keys() ?? [])];
    if (held.length > 0) await this.release(held);
    return true;
  }

  /** The nodes that should share the shards among them; this one too, unless it reaches no worker and another one does. */
  private candidates({ nodes }: ClusterSeen): NodeId[] {
    const { node } = this.ports;
    const others = nodes.filter(({ nodeId }) => nodeId !== node.nodeId && this.liveness.isSurelyAlive(nodeId));
    const self: NodeSeen = { ...node, beat: 0, leaving: false, reach: this.ports.reach(), journalFormat: WAITS_SINCE };
    const able = ableNodes([self, ...others]).map(({ nodeId }) => nodeId);
    const isAble = able.includes(node.nodeId);
    if (isAble !== this.isAble) {
      this.isAble = isAble;
      const message = isAble
        ? 'This node reaches workers again, and owns shards again.'
        : 'This node reaches no worker, here or at another node: others take its shards.';
      this.ports.log(isAble ? 'info' : 'warn', message, { cutFrom: self.reach?.cutFrom });
    }
    return able;
  }

  private async tellReach({ nodes }: ClusterSeen): Promise<void> {
    const { node, store } = this.ports;
    const reach = this.ports.reach();
    const told = nodes.find(({ nodeId }) => nodeId === node.nodeId)?.reach ?? null;
    if (told !== null && told.hasWorkers === reach.hasWorkers && told.cutFrom.join() === reach.cutFrom.join()) return;
    await store.tellReach(node.nodeId, reach);
  }

  /** Each round asks, and most find the same nodes as the one before. */
  private placesOf(nodes: readonly NodeId[]): (NodeId | null)[] {
    const key = nodes.join();
    if (this.placed?.key !== key) this.placed = { key, wanted: placeShards(nodes) };
    return this.placed.wanted;
  }

  private mayTake({ shard, owner }: ShardSeen, wanted: (NodeId | null)[], { nodes }: ClusterSeen): boolean {
    const { turns, node } = this.ports;
    if (turns.owns(shard)) return false;
    if (owner === node.nodeId) return true;
    if (wanted[shard] !== node.nodeId) return false;
    return owner === null || this.liveness.isDead(owner) || !nodes.some((other) => other.nodeId === owner);
  }

  private hasLost(shards: readonly ShardSeen[]): boolean {
    const held = this.ports.turns.current()?.shards;
    if (held === undefined) return false;
    return shards.some(({ shard, epoch, owner }) => {
      const ours = held.get(shard);
      return ours !== undefined && (epoch > ours.epoch || owner !== this.ports.node.nodeId);
    });
  }

  private async take(shards: readonly ShardSeen[]): Promise<void> {
    const { store, node, turns, log } = this.ports;
    const request = shards.map(({ shard, epoch }) => ({ shard, seenEpoch: epoch }));
    const { windowGraceMs } = this.ports.settings;
    const taken = await store.takeShards({
      nodeId: node.nodeId,
      shards: request,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      windowGraceMs,
    });
    if (taken.length === 0) return;
    for (const { currentRun } of taken) {
      // What this very process was touching has not ended it.
      if (currentRun !== null && !this.survived.has(currentRun))
        turns.charges.strikeRun(currentRun, 'Loading this run ended the process.', true);
    }
    for (const { shard, epoch } of taken) {
      const before = this.held.get(shard);
      this.held.set(shard, { epoch, since: before?.epoch === epoch - 1 ? before.since : epoch });
    }
    const loaded = await loadShards(store, taken, this.ports.loadSizes);
    try {
      await this.adopt(loaded, taken);
    } catch (error) {
      // What is half loaded must not be used (I16).
      if (turns.current() !== null) this.recover('a load broke off');
      throw error;
    }
    log('info', 'Shards taken.', { count: taken.length, liveRuns: loaded.heads.runs.length });
  }

  private async adopt(loaded: Loaded, taken: readonly TakenShard[]): Promise<void> {
    const { store, turns, node, settings } = this.ports;
    if (turns.current() === null) {
      const state = new State(settings);
      await this.restore(state, loaded);
      turns.begin(state, await store.openChain(node.nodeId));
      this.ports.onBegan();
    } else await turns.between((state) => this.restore(state, loaded));
    if (loaded.heads.partial.length > 0) turns.loadRest(taken.map(({ shard }) => shard));
    this.ports.directory.announce(node.nodeId, taken);
    this.ports.onTaken(taken.map(({ shard, epoch }) => ({ shard, epoch })));
  }

  private async restore(state: State, loaded: Loaded): Promise<void> {
    const { clock, store, turns } = this.ports;
    quarantine(state, turns.charges.quarantined, loaded.taken);
    try {
      adoptShards(state, loaded.heads, { wall: clock.wall(), mono: clock.mono() });
      await restoreWithCare(store, state, loaded, (runId) => this.survived.add(runId));
      for (const runId of this.survived) if (state.shards.has(shardOfRun(runId))) this.survived.delete(runId);
    } catch (error) {
      if (state.currentRun !== null) turns.charges.strikeRun(state.currentRun, String(error), true);
      throw error;
    }
  }

  private async release(shards: readonly ShardNo[]): Promise<void> {
    const { turns, store, node, log } = this.ports;
    const released: ShardEpoch[] = [];
    await turns.between((state) => {
      for (const shard of shards) {
        const held = state.shards.get(shard);
        if (held !== undefined) released.push({ shard, epoch: held.epoch });
      }
      dropShards(
        state,
        released.map(({ shard }) => shard),
      );
    });
    await store.releaseShards(node.nodeId, released);
    this.ports.onReleased();
    log('info', 'Shards released.', { count: released.length });
  }

  /** Rows of nodes that are gone and own nothing any more. */
  private async forgetDead({ nodes, shards }: ClusterSeen): Promise<void> {
    for (const { nodeId } of nodes) {
      const isGone = this.liveness.isDead(nodeId) && !shards.some((shard) => shard.owner === nodeId);
      if (!isGone || nodeId === this.ports.node.nodeId) continue;
      await this.ports.store.forgetNode(nodeId);
      this.liveness.forget(nodeId);
    }
  }

  private schedule(delayMs: number): void {
    if (this.isStopped || this.isRunning) return;
    this.cancelTimer?.();
    this.cancelTimer = this.ports.clock.after(delayMs, () => void this.round());
  }

  private async round(): Promise<void> {
    this.isRunning = true;
    this.isKicked = false;
    let nextMs = OBSERVE_MS;
    try {
      await this.runOnce();
    } catch (error) {
      this.ports.log('warn', 'The database did not answer a look at the cluster.', { error: String(error) });
      nextMs = RETRY_MS;
    } finally {
      this.isRunning = false;
      this.schedule(this.isKicked ? 0 : nextMs);
    }
  }

  /** Shows the renewal thread that the main loop is alive. */
  private tick(): void {
    this.ports.renewer.tick();
    this.ports.turns.look();
    if (!this.isStopped) this.cancelTick = this.ports.clock.after(TICK_MS, () => this.tick());
  }
}

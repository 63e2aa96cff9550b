/**
 * The live runs, as columns: a million of them must fit, and an object each would cost a kilobyte and long garbage
 * collections. A run is a *slot*, a small number that is used again after the run has left.
 */

import type { ParentRef } from '../../model/command.ts';
import type { AddedTask } from '../../model/dag/added.ts';
import type { Instant, RunId, RunUid } from '../../model/ids.ts';
import type { RunNotes } from '../../model/run/run-notes.ts';
import type { CheckpointRef } from '../../model/task/checkpoint-ref.ts';
import { RunFacts } from '../../model/task/facts.ts';
import { grown } from '../column.ts';
import type { Version } from '../dag/dag.ts';
import { RunMaps } from '../map/run-maps.ts';
import { IdIndex } from './id-index.ts';
import type { Pauses } from './pauses.ts';
import { readUid, writeUid } from './uid-column.ts';

export const OPEN = 0;
export const CLOSING = 1;
export const ENDED = 2;
export const ADMITTED = 1;
export const CLAIMED = 2;
export const HAS_PARAMS = 4;
export const SET_ASIDE = 8;
/** Somebody wants its end at once: its closing tasks are ended too. */
export const FORCED = 16;
/** All of it, or some of its tasks: see `pauses`. */
export const PAUSED = 32;
/** A task of it was marked as skipped: the short ways of a plain graph do not hold for it. */
export const HAS_SKIPPED = 64;

export class RunTable {
  private capacity = 0;
  private used = 0;
  private readonly free: number[] = [];
  private readonly index = new IdIndex((slot) => this.id[slot]!);

  id = new Float64Array(0);
  private uid = new Uint32Array(0);
  createdAt = new Float64Array(0);
  phase = new Uint8Array(0);
  /** 0 for none, else 1 + index in RUN_OUTCOMES. */
  outcome = new Uint8Array(0);
  priority = new Uint8Array(0);
  flags = new Uint8Array(0);
  strikes = new Uint8Array(0);
  /** First slot of the run's tasks in the task table. */
  base = new Int32Array(0);
  /** Ordinary tasks without a final outcome. */
  unfinished = new Int32Array(0);
  /** Teardowns, undos and hooks without one. */
  closingLeft = new Int32Array(0);
  /** Tasks with which the run fails: see `Graph.decidesRun`. */
  failed = new Int32Array(0);
  /** Running attempts. */
  running = new Int32Array(0);
  readonly version: (Version | undefined)[] = [];
  /** How often its own policy has opened it again. */
  retries = new Uint8Array(0);
  /** Of runs that were cancelled with another grace than the usual. */
  readonly graces = new Map<number, number>();
  /** Of runs that are paused, or have tasks that are. */
  readonly pauses = new Map<number, Pauses>();
  /** Of runs that conditions look at, once there are any. */
  readonly facts = new Map<number, RunFacts>();
  /** Which of a run's tasks have left one, by their numbers; of runs that have any. */
  readonly checkpoints = new Map<number, Map<number, CheckpointRef>>();
  /** Of runs whose dag has mapped groups. */
  readonly maps = new Map<number, RunMaps>();

  /** Of runs whose time is limited. */
  readonly timings = new Map<number, RunTiming>();
  /** Of runs that were slow, or have hooks that count. */
  readonly notes = new Map<number, RunNotes>();

  /** Of runs that a task of another run has made. */
  readonly parents = new Map<number, ParentRef>();
  /** What tasks have added to runs, in the order of their numbers. */
  readonly added = new Map<number, readonly AddedTask[]>();
  /** The same runs, by their uid. */
  readonly children = new Map<RunUid, number>();

  get count(): number {
    return this.used - this.free.length;
  }

  find(id: RunId): number {
    return this.index.find(id);
  }

  add(id: RunId, uid: RunUid, version: Version): number {
    const slot = this.free.pop() ?? this.extend();
    this.id[slot] = id;
    writeUid(this.uid, slot, uid);
    this.phase[slot] = OPEN;
    this.outcome[slot] = 0;
    this.flags[slot] = 0;
    this.strikes[slot] = 0;
    this.failed[slot] = 0;
    this.running[slot] = 0;
    this.closingLeft[slot] = version.closingCount;
    this.retries[slot] = 0;
    this.unfinished[slot] = version.taskCount - version.closingCount;
    this.version[slot] = version;
    this.index.add(id, slot);
    return slot;
  }

  remove(slot: number): void {
    this.index.remove(this.id[slot] as RunId);
    this.id[slot] = 0;
    this.version[slot] = undefined;
    if (this.facts.size > 0) this.facts.delete(slot);
    if (this.timings.size > 0) this.timings.delete(slot);
    if (this.notes.size > 0) this.notes.delete(slot);
    if (this.checkpoints.size > 0) this.checkpoints.delete(slot);
    if (this.parents.delete(slot)) this.children.delete(this.uidOf(slot));
    if (this.maps.size > 0) this.maps.delete(slot);
    if (this.added.size > 0) this.added.delete(slot);
    if (this.pauses.size > 0) this.pauses.delete(slot);
    if (this.graces.size > 0) this.graces.delete(slot);
    this.free.push(slot);
  }

  setParent(slot: number, parent: ParentRef): void {
    this.parents.set(slot, parent);
    this.children.set(this.uidOf(slot), slot);
  }

  /** Made when the first fact of a run is known. */
  factsOf(slot: number): RunFacts {
    const known = this.facts.get(slot) ?? new RunFacts();
    this.facts.set(slot, known);
    return known;
  }

  /** Null in a dag without maps; made when they are first asked for. */
  mapsOf(slot: number): RunMaps | null {
    const { graph, room } = this.versionOf(slot);
    if (graph.maps === null) return null;
    let known = this.maps.get(slot);
    if (known === undefined) {
      known = new RunMaps(graph.maps, room);
      this.maps.set(slot, known);
    }
    return known;
  }

  versionOf(slot: number): Version {
    return this.version[slot]!;
  }

  uidOf(slot: number): RunUid {
    return readUid(this.uid, slot);
  }

  has(slot: number, flag: number): boolean {
    return (this.flags[slot]! & flag) !== 0;
  }

  *slots(): Generator<number> {
    for (let slot = 0; slot < this.used; slot++) if (this.version[slot] !== undefined) yield slot;
  }

  private extend(): number {
    if (this.used === this.capacity) {
      this.capacity = Math.max(64, this.capacity * 2);
      this.id = grown(this.id, this.capacity);
      this.uid = grown(this.uid, this.capacity * 4);
      this.createdAt = grown(this.createdAt, this.capacity);
      this.phase = grown(this.phase, this.capacity);
      this.outcome = grown(this.outcome, this.capacity);
      this.priority = grown(this.priority, this.capacity);
      this.flags = grown(this.flags, this.capacity);
      this.strikes = grown(this.strikes, this.capacity);
      this.base = grown(this.base, this.capacity);
      this.unfinished = grown(this.unfinished, this.capacity);
      this.closingLeft = grown(this.closingLeft, this.capacity);
      this.failed = grown(this.failed, this.capacity);
      this.running = grown(this.running, this.capacity);
      this.retries = grown(this.retries, this.capacity);
    }
    return this.used++;
  }
}

interface RunTiming {
  /** When it became active, by both clocks. */
  readonly since: Instant;
  readonly sinceMono: number;
}

/**
 * The live runs, as columns: a million of them must fit, and an object each would cost a kilobyte and long garbage
 * collections. A run is a *row*, a small number that is used again after the run has left.
 */

import type { ParentRef } from '../../model/command.ts';
import type { AddedTask } from '../../model/dag/added.ts';
import type { Instant, RunId, RunRow, RunUid, ScheduleNo, TaskSlot, TenantId } from '../../model/ids.ts';
import type { RunNotes } from '../../model/run/run-notes.ts';
import type { CheckpointRef } from '../../model/task/checkpoint-ref.ts';
import { RunFacts } from '../../model/task/facts.ts';
import { grown, type RunColumn } from '../column.ts';
import type { Version } from '../dag/dag.ts';
import { RunMaps } from '../map/run-maps.ts';
import { IdIndex } from './id-index.ts';
import type { Pauses } from './pauses.ts';
import { RunWindows } from './run-windows.ts';
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
/** A backfill made it: its tasks have lanes of their own. */
export const BACKFILL = 128;

const NO_ID = 0 as RunId;
const FIRST_SCHEDULE = 1 as ScheduleNo;

export class RunTable {
  private capacity = 0;
  private used = 0;
  private readonly free: RunRow[] = [];
  private readonly index = new IdIndex((run) => this.id[run]!);

  id = new Float64Array(0) as unknown as RunColumn<RunId>;
  private uid = new Uint32Array(0);
  createdAt: RunColumn = new Float64Array(0);
  phase: RunColumn = new Uint8Array(0);
  /** 0 for none, else 1 + index in RUN_OUTCOMES. */
  outcome: RunColumn = new Uint8Array(0);
  priority: RunColumn = new Uint8Array(0);
  flags: RunColumn = new Uint8Array(0);
  strikes: RunColumn = new Uint8Array(0);
  /** First slot of the run's tasks in the task table. */
  base = new Int32Array(0) as unknown as RunColumn<TaskSlot>;
  /** Ordinary tasks without a final outcome. */
  unfinished: RunColumn = new Int32Array(0);
  /** Teardowns, undos and hooks without one. */
  closingLeft: RunColumn = new Int32Array(0);
  /** Tasks with which the run fails: see `Graph.decidesRun`. */
  failed: RunColumn = new Int32Array(0);
  /** Its tasks, ended or not; of maps those instances that are there. */
  size: RunColumn = new Int32Array(0);
  /** Running attempts. */
  running: RunColumn = new Int32Array(0);
  readonly version: (Version | undefined)[] = [];
  /** How often its own policy has opened it again. */
  retries: RunColumn = new Uint8Array(0);
  /** Of runs that were cancelled with another grace than the usual. */
  readonly graces = new Map<RunRow, number>();
  /** Of runs that are paused, or have tasks that are. */
  readonly pauses = new Map<RunRow, Pauses>();
  /** Of runs that conditions look at, once there are any. */
  readonly facts = new Map<RunRow, RunFacts>();
  /** Which of a run's tasks have left one, by their numbers; of runs that have any. */
  readonly checkpoints = new Map<RunRow, Map<number, CheckpointRef>>();
  /** Of runs whose dag has mapped groups. */
  readonly maps = new Map<RunRow, RunMaps>();

  /** Of runs whose time is limited. */
  readonly timings = new Map<RunRow, RunTiming>();
  /** Of runs that were slow, or have hooks that count. */
  readonly notes = new Map<RunRow, RunNotes>();

  /** Of runs that a task of another run has made. */
  readonly parents = new Map<RunRow, ParentRef>();
  /** Of runs that are for a window. */
  readonly windows = new RunWindows();
  /** Of runs for a window of another schedule than the first of their dag; 0 for others. */
  private scheduleNo: RunColumn = new Int32Array(0);
  /** What tasks have added to runs, in the order of their numbers. */
  readonly added = new Map<RunRow, readonly AddedTask[]>();
  /** The same runs, by their uid. */
  readonly children = new Map<RunUid, RunRow>();

  private readonly ofTenants = new Map<TenantId, number>();

  get count(): number {
    return this.used - this.free.length;
  }

  /** Those of a tenant that are in memory. */
  liveOf(tenantId: TenantId): number {
    return this.ofTenants.get(tenantId) ?? 0;
  }

  private countOf({ dag: { tenantId } }: Version, by: 1 | -1): void {
    const count = (this.ofTenants.get(tenantId) ?? 0) + by;
    if (count === 0) this.ofTenants.delete(tenantId);
    else this.ofTenants.set(tenantId, count);
  }

  /** Its row, or -1. */
  find(id: RunId): RunRow {
    return this.index.find(id);
  }

  add(id: RunId, uid: RunUid, version: Version): RunRow {
    const run = this.free.pop() ?? this.extend();
    this.id[run] = id;
    writeUid(this.uid, run, uid);
    this.phase[run] = OPEN;
    this.outcome[run] = 0;
    this.flags[run] = 0;
    this.strikes[run] = 0;
    this.failed[run] = 0;
    this.running[run] = 0;
    this.closingLeft[run] = version.closingCount;
    this.retries[run] = 0;
    this.scheduleNo[run] = 0;
    this.size[run] = version.taskCount;
    this.unfinished[run] = version.taskCount - version.closingCount;
    this.version[run] = version;
    this.countOf(version, 1);
    this.index.add(id, run);
    return run;
  }

  remove(run: RunRow): void {
    this.index.remove(this.id[run]!);
    this.countOf(this.versionOf(run), -1);
    this.id[run] = NO_ID;
    this.version[run] = undefined;
    if (this.facts.size > 0) this.facts.delete(run);
    if (this.timings.size > 0) this.timings.delete(run);
    if (this.notes.size > 0) this.notes.delete(run);
    if (this.windows.size > 0) this.windows.delete(run);
    if (this.checkpoints.size > 0) this.checkpoints.delete(run);
    if (this.parents.delete(run)) this.children.delete(this.uidOf(run));
    if (this.maps.size > 0) this.maps.delete(run);
    if (this.added.size > 0) this.added.delete(run);
    if (this.pauses.size > 0) this.pauses.delete(run);
    if (this.graces.size > 0) this.graces.delete(run);
    this.free.push(run);
  }

  setSchedule(run: RunRow, scheduleNo: ScheduleNo | undefined): void {
    this.scheduleNo[run] = scheduleNo === undefined || scheduleNo === FIRST_SCHEDULE ? 0 : scheduleNo;
  }

  /** The schedule whose window it is for, if it is for one. Runs of older versions do not name theirs: it is the first. */
  scheduleNoOf(run: RunRow): ScheduleNo {
    return (this.scheduleNo[run] || FIRST_SCHEDULE) as ScheduleNo;
  }

  setParent(run: RunRow, parent: ParentRef): void {
    this.parents.set(run, parent);
    this.children.set(this.uidOf(run), run);
  }

  /** Made when the first fact of a run is known. */
  factsOf(run: RunRow): RunFacts {
    const known = this.facts.get(run) ?? new RunFacts();
    this.facts.set(run, known);
    return known;
  }

  /** Null in a dag without maps; made when they are first asked for. */
  mapsOf(run: RunRow): RunMaps | null {
    const { graph, room } = this.versionOf(run);
    if (graph.maps === null) return null;
    let known = this.maps.get(run);
    if (known === undefined) {
      known = new RunMaps(graph.maps, room);
      this.maps.set(run, known);
    }
    return known;
  }

  versionOf(run: RunRow): Version {
    return this.version[run]!;
  }

  uidOf(run: RunRow): RunUid {
    return readUid(this.uid, run);
  }

  has(run: RunRow, flag: number): boolean {
    return (this.flags[run]! & flag) !== 0;
  }

  *rows(): Generator<RunRow> {
    for (let run = 0; run < this.used; run++) if (this.version[run] !== undefined) yield run as RunRow;
  }

  private extend(): RunRow {
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
      this.size = grown(this.size, this.capacity);
      this.closingLeft = grown(this.closingLeft, this.capacity);
      this.failed = grown(this.failed, this.capacity);
      this.running = grown(this.running, this.capacity);
      this.retries = grown(this.retries, this.capacity);
      this.scheduleNo = grown(this.scheduleNo, this.capacity);
    }
    return this.used++ as RunRow;
  }
}

interface RunTiming {
  /** When it became active, by both clocks. */
  readonly since: Instant;
  readonly sinceMono: number;
}

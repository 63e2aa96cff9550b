/** Builds state from stored rows: on takeover, while the rest is loading, and for what a command needs to see. */

import { assert } from '../model/assert.ts';
import { RESIDENT } from '../model/change/schedule.ts';
import { birthShardOf, dagNo } from '../model/dag/dag-id.ts';
import { type DagId, type Instant, type RunRow, type ScheduleNo, type ShardNo, shardOfRun } from '../model/ids.ts';
import { readRunNotes } from '../model/run/run-notes.ts';
import type {
  AdmittedCount,
  SilentWorker,
  StoredDag,
  StoredRun,
  StoredSchedule,
  StoredShard,
  StoredVersion,
} from '../model/stored.ts';
import type { LoadedTables } from '../model/table/stored-tables.ts';
import { READY } from '../model/task/task-states.ts';
import { removeAttempt } from '../tables/attempt/attempts.ts';
import { attemptsOfTask } from '../tables/attempt/find-attempt.ts';
import { countLiveOf } from '../tables/backfill/backfills.ts';
import { Dag, Version } from '../tables/dag/dag.ts';
import { dropLanes, leaveLane } from '../tables/queue/enqueue.ts';
import { ENDED } from '../tables/run/run-table.ts';
import { endOfInstant } from '../tables/schedule/due.ts';
import { decidedByToday } from '../tables/schedule/moved-wall.ts';
import { makeSchedule, type Schedule, withoutTimetable } from '../tables/schedule/schedule.ts';
import { watchSchedule } from '../tables/schedule/watch-schedule.ts';
import type { State } from '../tables/state.ts';
import { forEachSlot } from '../tables/task/task-slots.ts';
import { watchLease } from '../tables/worker/lease.ts';
import { restoreTables } from './apply.ts';
import { restoreHalt } from './apply-halt.ts';
import { forgetRun, forgetVersionIfUnused } from './forget-run.ts';
import { restoreRun } from './restore-run.ts';
import { missedAtTakeover, noteLook } from './service.ts';

export interface Heads {
  readonly shards: readonly StoredShard[];
  /** Those that are in memory at all times. */
  readonly schedules: readonly StoredSchedule[];
  readonly runs: readonly StoredRun[];
  readonly dags: readonly StoredDag[];
  readonly versions: readonly StoredVersion[];
  readonly admitted: readonly AdmittedCount[];
  /** Dags with live runs that come later. */
  readonly partial: readonly DagId[];
  /** Rows of described tables. */
  readonly tables: LoadedTables;
}

/** Takes shards into the working set, as of their takeover. */
export function adoptShards(state: State, heads: Heads, now: { readonly wall: Instant; readonly mono: number }): void {
  noteLook(state, now.wall);
  state.now = now.wall;
  state.mono = now.mono as State['mono'];
  for (const stored of heads.shards) {
    assert(!state.shards.has(stored.shard), 'a shard is adopted once');
    const { shard, epoch, commitNo, lastRunId, lastDagNo, missedAgoMs } = stored;
    const missedUntil = missedAtTakeover(now.wall, missedAgoMs);
    state.shards.set(shard, { shard, epoch, commitNo, lastRunId, lastDagNo, missedUntil, ...NOTHING_NEAR });
    for (const silent of stored.silentWorkers) {
      const leaseEndsAt = (state.mono + silenceLeftMs(state, silent)) as State['mono'];
      const worker = state.workers.getOrAdd(silent.workerId, leaseEndsAt);
      worker.silencedIn.add(shard);
      if (!worker.heard && leaseEndsAt < worker.leaseEndsAt) {
        worker.leaseEndsAt = leaseEndsAt;
        // Another shard may have had it watched until later.
        worker.watchedAt = null;
      }
      watchLease(state, worker);
    }
  }
  state.limits.hasNews = true;
  for (const { dagId, admitted } of heads.admitted) state.admittedOf.set(dagId, admitted);
  for (const dagId of heads.partial) state.partial.set(dagId, new Set());
  // Before schedules and dags, which look for their own.
  restoreTables(state, heads.tables);
  for (const stored of heads.schedules) restoreSchedule(state, stored);
  restoreRuns(state, heads);
}

/** All live runs are in memory: windows that waited for those of their dag are decided next. */
export function noteAllLoaded(state: State): void {
  for (const schedules of state.partial.values()) {
    for (const schedule of schedules) if (state.schedules.get(schedule.id) === schedule) watchSchedule(state, schedule);
  }
  state.partial.clear();
  state.past.endedEarly.clear();
}

/** A shard of which only those schedules are in memory that always are: they come with the load. */
export const NOTHING_NEAR = {
  nearUntil: RESIDENT,
  nearAfter: endOfInstant(RESIDENT),
  zoneVersion: null,
  zonedAfter: { dagId: 0 as DagId, scheduleNo: 0 as ScheduleNo },
};

/** Even where owners change every few seconds a worker that lives has this long to be heard by each. */
const LEAST_RECONCILE_MS = 1_000;

/**
 * What is left of a silent worker's lease. A new owner gives it some time to be heard, for it may not have known whom to speak to.
 * That time shrinks with what earlier owners have waited for it: else owners that each go before it is over would never give up (I25).
 */
function silenceLeftMs({ settings }: State, { silentMs, servedMs }: SilentWorker): number {
  const { leaseMs, reconcileMs } = settings;
  const toBeHeardMs = Math.max(Math.min(reconcileMs, leaseMs - servedMs), LEAST_RECONCILE_MS);
  return Math.max(leaseMs - silentMs, toBeHeardMs);
}

/** One that can't be read stops no other: it is kept as it is, and paused by the next step (I57). */
export function restoreSchedule(state: State, stored: StoredSchedule): Schedule {
  try {
    const schedule = makeSchedule(stored);
    schedule.decidedUntil = decidedByToday(state, schedule);
    watchSchedule(state, schedule);
    state.schedules.put(schedule);
    return schedule;
  } catch (error) {
    const schedule = withoutTimetable(stored);
    state.schedules.put(schedule);
    const { shard, id: scheduleId } = schedule;
    state.agenda.faulty.push({ shard, scheduleId, reason: error instanceof Error ? error.message : String(error) });
    return schedule;
  }
}

/** Adds dags, versions and live runs that are not in memory yet. What is in memory is newer, and stays. */
export function restoreRuns(state: State, { dags, versions, runs }: Pick<Heads, 'dags' | 'versions' | 'runs'>): void {
  restoreDags(state, dags, versions);
  for (const stored of runs) {
    if (stored.phase === 'ended' || !state.shards.has(shardOfRun(stored.runId))) continue;
    if (state.runs.find(stored.runId) >= 0) continue;
    if (stored.setAside) giveUpPlace(state, stored);
    if (stored.setAside || state.quarantined.has(stored.runId)) continue;
    restoreRun(state, stored);
  }
  // Versions of ended runs came along; nothing in memory needs them.
  for (const { dagId, versionNo } of versions) {
    const version = state.dags.get(dagId)?.versions.get(versionNo);
    if (version !== undefined) forgetVersionIfUnused(version);
  }
}

function restoreDags(state: State, dags: readonly StoredDag[], versions: readonly StoredVersion[]): void {
  const byName = new Map(versions.map((version) => [`${version.dagId}/${version.versionNo}`, version]));
  for (const stored of dags) {
    state.tenantNames.set(stored.tenantId, stored.tenant);
    if (state.dags.get(stored.dagId) !== undefined || !state.shards.has(stored.shard)) continue;
    const current = byName.get(`${stored.dagId}/${stored.versionNo}`);
    assert(current !== undefined, 'a dag comes with its current version');
    const { shard, dagId, tenantId, tenant, name, versionNo } = stored;
    const dag = new Dag(shard, dagId, tenantId, tenant, name, versionNo, current.hash, current.spec);
    dag.isRetired = stored.isRetired;
    dag.isFrozen = state.frozen.holdsDag(dag);
    restoreHalt(state, dag);
    dag.windowsUntil = stored.windowsUntil;
    dag.lastScheduleNo = stored.lastScheduleNo;
    dag.activeRuns = state.admittedOf.get(dagId) ?? 0;
    state.admittedOf.delete(dagId);
    state.breakers.attach(dag);
    state.dags.add(dag);
    const shardState = state.shards.get(shard)!;
    shardState.lastDagNo = Math.max(shardState.lastDagNo, dagNo(dagId));
  }
  for (const stored of versions) {
    const dag = state.dags.get(stored.dagId);
    if (dag === undefined || dag.versions.has(stored.versionNo)) continue;
    dag.versions.set(stored.versionNo, new Version(dag, stored.versionNo, stored.hash, stored.spec));
  }
}

/** Gives shards out of the hand: another node has them, or will. */
export function dropShards(state: State, shards: readonly ShardNo[]): void {
  const leaving = new Set(shards);
  for (const run of state.runs.rows()) {
    if (leaving.has(shardOfRun(state.runs.id[run]!))) dropRun(state, run);
  }
  state.lingering = state.lingering.filter(({ run }) => state.runs.version[run] !== undefined);
  for (const dag of state.dags.byId.values()) if (leaving.has(dag.shard)) dropDag(state, dag);
  for (const dagId of state.admittedOf.keys()) if (leaving.has(birthShardOf(dagId))) state.admittedOf.delete(dagId);
  for (const dagId of state.partial.keys()) if (leaving.has(birthShardOf(dagId))) state.partial.delete(dagId);
  for (const held of state.held.all()) if (leaving.has(held.shard)) state.held.remove(held);
  state.schedules.drop(leaving);
  state.recentlyRemoved.clear();
  state.rows.drop(leaving);
  state.untold.drop(leaving);
  state.limits.drop(leaving);
  state.rates.drop(leaving);
  state.quotas.counts.drop(leaving);
  state.runKeys.drop(leaving);
  for (const [uid, { shard }] of state.backfills) if (leaving.has(shard)) state.backfills.delete(uid);
  for (const backfill of state.agenda.backfills)
    if (leaving.has(backfill.shard)) state.agenda.backfills.delete(backfill);
  for (const [name, { runId }] of state.recentWindows)
    if (leaving.has(shardOfRun(runId))) state.recentWindows.delete(name);
  for (const [name, { stored }] of state.recentKeys) if (leaving.has(stored.shard)) state.recentKeys.delete(name);
  for (const worker of state.workers.all()) {
    for (const shard of shards) worker.silencedIn.delete(shard);
    state.workers.forgetIfIdle(worker);
  }
  for (const runId of state.aside) if (leaving.has(shardOfRun(runId))) state.aside.delete(runId);
  for (const shard of shards) {
    state.breakers.dropShard(shard);
    state.shards.delete(shard);
  }
  state.agenda.loaded = state.agenda.loaded.filter(({ shard }) => !leaving.has(shard));
  state.agenda.faulty = state.agenda.faulty.filter(({ shard }) => !leaving.has(shard));
}

function dropDag(state: State, dag: Dag): void {
  state.dags.remove(dag);
  state.agenda.dags.delete(dag);
  dropLanes(state, dag);
}

function dropRun(state: State, run: RunRow): void {
  const { runs, tasks } = state;
  const version = runs.versionOf(run);
  if (runs.phase[run] !== ENDED) {
    forEachSlot(state, run, (slot) => {
      for (const attempt of attemptsOfTask(state, slot)) removeAttempt(state, attempt);
      if (tasks.state[slot] === READY) leaveLane(state, slot);
    });
    version.origin.liveRuns -= 1;
    version.dag.liveRuns -= 1;
    version.dag.liveTasks -= runs.size[run]!;
    if (runs.parents.has(run)) version.dag.liveChildren -= 1;
  }
  state.agenda.runs.delete(run);
  forgetRun(state, run);
}

/** A run that can't be loaded was counted by the load all the same, as active and as one of its backfill (I7, I19). */
export function setAsideUnloaded(state: State, stored: StoredRun): void {
  giveUpPlace(state, stored);
  countLiveOf(state, readRunNotes(stored.notes).backfill, -1);
}

/** A run that is set aside and not in memory was counted as active all the same, by the load (I7). */
function giveUpPlace(state: State, { runId, dagId, admitted }: StoredRun): void {
  if (state.aside.has(runId)) return;
  state.aside.add(runId);
  if (!admitted) return;
  const dag = state.dags.get(dagId);
  if (dag !== undefined) {
    dag.activeRuns -= 1;
    state.agenda.dags.add(dag);
  } else if (state.admittedOf.has(dagId)) state.admittedOf.set(dagId, state.admittedOf.get(dagId)! - 1);
}

/**
 * The stored part of a shard's state as plain values in a fixed order: two states are equal if these are equal (I19). Only
 * timers know whether a backoff is over, so a task that waits for a retry and one that is ready again look the same.
 */

import { isLiveBackfill } from '../model/backfill.ts';
import { RESIDENT } from '../model/change/schedule.ts';
import { PRIORITIES } from '../model/dag/spec.ts';
import { type AttemptSlot, type RunRow, type ShardNo, shardOfRun, type TaskSlot } from '../model/ids.ts';
import { AWAITS_RETRY, READY, STOPPED, TASK_STATE_NAMES } from '../model/task/task-states.ts';
import { workerIdOf } from './attempt/claim-of.ts';
import { attemptsOfTask } from './attempt/find-attempt.ts';
import type { Pauses } from './run/pauses.ts';
import { ADMITTED, BACKFILL, ENDED } from './run/run-table.ts';
import { storedOf } from './schedule/schedule.ts';
import type { State } from './state.ts';
import { forEachSlot } from './task/task-slots.ts';

function pausesOf(pauses: Pauses | undefined): unknown {
  return pauses === undefined ? null : { run: pauses.run, tasks: [...pauses.tasks].sort(([a], [b]) => a - b) };
}

function pastOf({ past }: State, run: RunRow): unknown {
  const hold = past.get(run);
  return hold === undefined ? null : { at: hold.waitsFor?.at ?? null, left: [...hold.left].sort((a, b) => a - b) };
}

/** Of schedules, those that are due until then, or are always in memory: others may or may not be here. */
export function describeShard(state: State, shard: ShardNo, dueUntil: number = RESIDENT): unknown {
  const { runs, tasks } = state;
  const live = [...runs.rows()].filter((run) => shardOfRun(runs.id[run]!) === shard && runs.phase[run] !== ENDED);
  live.sort((a, b) => runs.id[a]! - runs.id[b]!);
  return {
    lastRunId: state.shards.get(shard)?.lastRunId,
    schedules: [...state.schedules.values()]
      .filter((schedule) => schedule.shard === shard && (schedule.dueAt ?? Number.POSITIVE_INFINITY) <= dueUntil)
      .sort((a, b) => a.dagId - b.dagId || a.scheduleNo - b.scheduleNo)
      .map((schedule) => ({ ...storedOf(schedule), decidedUntil: schedule.decidedUntil, dueAt: schedule.dueAt })),
    backfills: [...state.backfills.values()]
      .filter((backfill) => backfill.shard === shard && isLiveBackfill(backfill.state))
      .sort((a, b) => (a.uid < b.uid ? -1 : 1))
      .map(({ uid, state: is, cursorAt, isDone, createdCount, skippedCount, liveRuns }) => [
        ...[uid, is, cursorAt, isDone],
        ...[createdCount, skippedCount, liveRuns],
      ]),
    breakers: [...state.breakers.all()]
      .filter((breaker) => breaker.shard === shard)
      .sort((a, b) => a.dagId - b.dagId || a.fingerprint - b.fingerprint)
      .map(({ dagId, fingerprint, state: is, pauseMs, openedAt, since }) => [
        dagId,
        fingerprint,
        is,
        pauseMs,
        openedAt,
        since,
      ]),
    held: [...state.held.all()]
      .filter((held) => held.shard === shard)
      .map(({ uid, dagId, trigger, groupKey, isDebounced, openedAt, firesAt, heldAt, eventCount, params, actor }) => [
        uid,
        dagId,
        trigger,
        groupKey,
        isDebounced,
        openedAt,
        firesAt,
        heldAt,
        eventCount,
        params.length,
        actor,
      ])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    rows: state.rows.describe(shard),
    counts: countsOf(state, shard),
    runKeys: state.runKeys.describe(shard),
    runs: live.map((run) => {
      const version = runs.versionOf(run);
      return {
        id: runs.id[run],
        uid: runs.uidOf(run),
        dagId: version.dag.id,
        versionNo: version.no,
        isRetired: version.dag.isRetired,
        phase: runs.phase[run],
        outcome: runs.outcome[run],
        priority: PRIORITIES[runs.priority[run]!],
        isAdmitted: runs.has(run, ADMITTED),
        parent: runs.parents.get(run) ?? null,
        window: runs.windows.get(run) ?? null,
        isBackfill: runs.has(run, BACKFILL),
        scheduleNo: runs.scheduleNoOf(run),
        retries: runs.retries[run],
        pauses: pausesOf(runs.pauses.get(run)),
        past: pastOf(state, run),
        waitsForRequirements: state.requires.has(run),
        maps: runs.maps.get(run)?.expansions.map(({ group, scope, firstNo, total, unfolded, tallies }) => ({
          group: group.no,
          scope,
          firstNo,
          total,
          unfolded,
          tallies,
        })),
        added: runs.added.get(run),
        nextNo: runs.maps.get(run)?.nextNo,
        tasks: slotsOf(state, run).map((slot) => {
          const code = AWAITS_RETRY[tasks.state[slot]!] === 1 ? READY : tasks.state[slot]!;
          return [
            tasks.no[slot],
            code === STOPPED ? 'stopped' : TASK_STATE_NAMES[code],
            tasks.attemptNo[slot],
            tasks.fence[slot],
            tasks.lostCount[slot],
            tasks.budgetBase[slot],
            tasks.fingerprint[slot],
            tasks.quickCount[slot],
            tasks.notes.get(slot) ?? null,
            attemptsOfTask(state, slot).map((attempt) => attemptOf(state, attempt)),
            runs.checkpoints.get(run)?.get(tasks.no[slot]!) ?? null,
          ];
        }),
      };
    }),
  };
}

/** What limits count: it follows from the runs, live and loaded alike (I45). */
function countsOf({ dags, limits }: State, shard: ShardNo): unknown {
  const held = [...limits.all()].filter((hold) => hold.shard === shard).map((hold) => [hold.name, hold.used] as const);
  const ofDags = [...dags.byId.values()]
    .filter((dag) => dag.shard === shard)
    .flatMap((dag) => [
      [`runs of ${dag.id}`, dag.activeRuns] as const,
      [`tasks of ${dag.id}`, dag.runningTasks] as const,
      [`live tasks of ${dag.id}`, dag.liveTasks] as const,
      // One without runs may not be in memory.
      [`halts of ${dag.id}`, Number(dag.isHalted && dag.liveRuns > 0)] as const,
      ...[...dag.limitsOfTasks()].map(({ name, used }) => [name, used] as const),
    ]);
  // The limits of a task in several versions count the same.
  return [...new Map<string, number>([...held, ...ofDags])]
    .filter(([, count]) => count !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function attemptOf(state: State, attempt: AttemptSlot): unknown {
  const { attemptNo, fence, claimedAt } = state.attempts;
  return [attemptNo[attempt], fence[attempt], claimedAt[attempt], workerIdOf(state, attempt)];
}

function slotsOf(state: State, run: RunRow): TaskSlot[] {
  const slots: TaskSlot[] = [];
  forEachSlot(state, run, (slot) => slots.push(slot));
  return slots;
}

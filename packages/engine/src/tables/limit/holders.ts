/** Who has slots of a limit that spans shards, since when, and how many tasks wait for some: of the shards of this engine. */
import { type AttemptNo, type DagId, type Instant, type RunUid, shardOfRun, type WorkerId } from '../../model/ids.ts';
import { isStarts, type LimitName } from '../../model/limit.ts';
import { attemptsOfWorker } from '../attempt/find-attempt.ts';
import { laneOf } from '../queue/enqueue.ts';
import type { State } from '../state.ts';
import { taskNoOf, taskSpecOf } from '../task/task-slots.ts';
import type { LaneLimit } from './lane-limit.ts';

export interface SlotHolder {
  readonly tenant: string;
  readonly dag: string;
  readonly run: RunUid;
  /** As people call it: `load`, `load[3]`. */
  readonly task: string;
  readonly attempt: AttemptNo;
  readonly worker: WorkerId;
  readonly since: Instant;
  readonly slots: number;
}

export interface SlotsSeen {
  /** The longest first; no more than were asked for. */
  readonly holders: readonly SlotHolder[];
  readonly used: number;
  /** Slots that tasks take which only this limit holds back, or this one and later ones. */
  readonly waiting: number;
}

export function slotsOf(state: State, name: LimitName, most: number): SlotsSeen {
  const holders: SlotHolder[] = [];
  const limits = limitsNamed(state, name);
  // Starts that count, of attempts that may have ended.
  if (isStarts(name))
    return { holders, used: sumOf(limits, ({ used }) => used), waiting: sumOf(limits, (one) => one.waits()) };
  // Those of one task, of several versions, count the same attempts.
  const used = name.startsWith('task/') ? (limits[0]?.used ?? 0) : sumOf(limits, (one) => one.used);
  const waiting = sumOf(limits, (one) => one.waits());
  if (used > 0) for (const worker of state.workers.all()) holders.push(...holdersAt(state, name, worker));
  holders.sort((a, b) => a.since - b.since);
  return { holders: holders.slice(0, most), used, waiting };
}

function sumOf(limits: readonly LaneLimit[], of: (limit: LaneLimit) => number): number {
  return limits.reduce((sum, limit) => sum + of(limit), 0);
}

function limitsNamed(state: State, name: LimitName): LaneLimit[] {
  const [kind, dagId, ...task] = name.split('/');
  if (kind === 'task') return state.dags.get(Number(dagId) as DagId)?.limitsOfTask(task.join('/')) ?? [];
  return [...state.shards.keys()].flatMap((shard) => state.limits.find(shard, name) ?? []);
}

function holdersAt(state: State, name: LimitName, worker: Parameters<typeof attemptsOfWorker>[1]): SlotHolder[] {
  const { attempts, tasks, runs } = state;
  return attemptsOfWorker(state, worker).flatMap((attempt) => {
    const slot = attempts.task[attempt]!;
    const run = tasks.run[slot]!;
    const taken = laneOf(state, run, slot).holds.find(({ hold }) => hold.name === name);
    if (taken === undefined || !state.shards.has(shardOfRun(runs.id[run]!))) return [];
    const { tenant, name: dag } = runs.versionOf(run).dag;
    const path = runs.mapsOf(run)?.pathOf(taskNoOf(state, slot)) ?? [];
    return {
      tenant,
      dag,
      run: runs.uidOf(run),
      task: `${taskSpecOf(state, slot).name}${path.map((index) => `[${index}]`).join('')}`,
      attempt: attempts.attemptNo[attempt] as AttemptNo,
      worker: worker.id,
      since: attempts.claimedAt[attempt] as Instant,
      slots: taken.slots,
    };
  });
}

/**
 * Where a task with a request runs: of the workers that have room, the one with the best score. What fits tightly scores best, so that
 * large rooms stay for large tasks; what the task prefers counts for more than that.
 */
import type { TaskSlot } from '../../model/ids.ts';
import type { PlacementSpec, Request } from '../../model/placement.ts';
import { attemptsOfWorker } from '../../tables/attempt/find-attempt.ts';
import type { Considered } from '../../tables/decision/decisions.ts';
import type { Lane } from '../../tables/queue/lane.ts';
import type { Offers } from '../../tables/queue/offers.ts';
import type { State } from '../../tables/state.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Offer, Worker } from '../../tables/worker/worker-table.ts';

/** Lower priorities look at all workers; `critical` and `high` begin on the best of the first few that have room. */
const SAMPLED_PRIORITIES = 2;
const SAMPLE = 8;

/** All labels that it prefers count for this much, the worker of an upstream task for half of it. How tight the fit is, for 1 at most. */
const PREFERRED = 4;
/** Each task that it should keep away from. */
const TOGETHER = 2;

/** `considered` is told of all that have room. */
export function placeFor(
  state: State,
  offers: Offers,
  request: Request,
  lane: Lane,
  considered: Considered | null,
): Offer | undefined {
  const slot = lane.headSlot();
  const { placement = NO_PLACEMENT } = taskSpecOf(state, slot);
  const most = lane.priority < SAMPLED_PRIORITIES ? SAMPLE : Number.POSITIVE_INFINITY;
  let best: Offer | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  let seen = 0;
  for (const offer of offers.inTurn()) {
    if (!offer.hasRoomFor(request)) continue;
    const score = scoreOf(state, offer, slot, { request, placement });
    considered?.add(offer, score);
    if (score < bestScore) {
      best = offer;
      bestScore = score;
    }
    seen += 1;
    if (seen === most) break;
  }
  return best;
}

const NO_PLACEMENT: PlacementSpec = {};

interface Wish {
  readonly request: Request;
  readonly placement: PlacementSpec;
}

/** The lowest is the best. */
export function scoreOf(state: State, offer: Offer, slot: TaskSlot, { request, placement }: Wish): number {
  return restOf(offer, request) + dislike(state, offer.worker, slot, placement);
}

/** The share of the worker that would be left, from 0 to 1: the mean over what it has. */
function restOf({ room, worker }: Offer, { resources }: Request): number {
  const total = worker.traits.resources;
  let sum = 0;
  let count = 0;
  for (const name in total) {
    if (total[name]! <= 0) continue;
    sum += ((room[name] ?? 0) - (resources[name] ?? 0)) / total[name]!;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}

function dislike(state: State, worker: Worker, slot: TaskSlot, { prefer, near, spread }: PlacementSpec): number {
  let score = 0;
  if (prefer !== undefined) {
    const names = Object.keys(prefer);
    score -= (PREFERRED * names.filter((name) => worker.traits.labels[name] === prefer[name]).length) / names.length;
  }
  if (near !== undefined && hasRun(state, worker, slot, near)) score -= PREFERRED / 2;
  if (spread !== undefined) score += TOGETHER * besides(state, worker, slot, spread);
  return score;
}

function hasRun(state: State, worker: Worker, slot: TaskSlot, near: readonly number[]): boolean {
  const ranOn = state.ranOn.get(state.tasks.run[slot]!);
  return ranOn !== undefined && near.some((taskNo) => ranOn.get(taskNo) === worker.id);
}

/** How many attempts of the same run, or dag, run on the worker, or on all workers with the same value of the label. */
function besides(state: State, worker: Worker, slot: TaskSlot, spread: NonNullable<PlacementSpec['spread']>): number {
  const { of, over } = spread;
  if (over === undefined) return countOn(state, worker, slot, of);
  const value = worker.traits.labels[over];
  let count = 0;
  for (const other of state.workers.all())
    if (other.traits.labels[over] === value) count += countOn(state, other, slot, of);
  return count;
}

function countOn(state: State, worker: Worker, slot: TaskSlot, of: 'run' | 'dag'): number {
  const { tasks, runs, attempts } = state;
  const run = tasks.run[slot]!;
  const { dag } = runs.versionOf(run);
  let count = 0;
  for (const attempt of attemptsOfWorker(state, worker)) {
    const other = tasks.run[attempts.task[attempt]!]!;
    if (of === 'run' ? other === run : runs.versionOf(other).dag === dag) count += 1;
  }
  return count;
}

/**
 * Makes room for critical tasks that found no worker: attempts of `low`, then of `normal` runs are told to stop. They have their
 * grace to save a checkpoint, go back to ready without spending a retry, and run again from it. Nothing of the task's own class, nor of
 * `high`, is stopped.
 *
 * Victims are those that lose the least work: the time since they began, or since their last checkpoint. They are looked for only
 * while critical tasks wait, at most so many a minute; after a look that found nobody the next one comes a second later at the earliest.
 */
import { PRIORITIES } from '../../model/dag/spec.ts';
import type { AttemptSlot } from '../../model/ids.ts';
import { addAmounts, hasAmounts, misfitOf, type Request, type Room, requestOf } from '../../model/placement.ts';
import { NO_ATTEMPT } from '../../tables/attempt/attempt-table.ts';
import { attemptsOfWorker, besideOf, leadingOf } from '../../tables/attempt/find-attempt.ts';
import type { OfferGroup } from '../../tables/queue/offer-group.ts';
import type { ReadyQueue } from '../../tables/queue/ready-queue.ts';
import type { State } from '../../tables/state.ts';
import { isMember, membersOf } from '../../tables/task/gang.ts';
import { mayRun } from '../../tables/task/may-run.ts';
import { taskSpecOf } from '../../tables/task/task-slots.ts';
import type { Worker } from '../../tables/worker/worker-table.ts';
import { killAttempt } from '../lease/kill.ts';
import type { Recorder } from '../recorder.ts';

const CRITICAL = PRIORITIES.indexOf('critical');
const NORMAL = PRIORITIES.indexOf('normal');
const MINUTE_MS = 60_000;
const LOOK_AGAIN_MS = 1_000;

interface Victims {
  readonly attempts: readonly AttemptSlot[];
  /** The highest class among them: a higher number is a lower priority. */
  readonly priority: number;
  readonly lostMs: number;
}

/** Answers the groups in which critical tasks wait. */
export function preempt(recorder: Recorder, groups: readonly OfferGroup[]): OfferGroup[] {
  return groups.filter((group) => {
    let isStarved = false;
    for (const queue of group.unplaced(CRITICAL)) {
      isStarved = true;
      makeRoom(recorder, group, queue);
    }
    return isStarved;
  });
}

function makeRoom(recorder: Recorder, group: OfferGroup, queue: ReadyQueue): void {
  const { state } = recorder;
  const { attempts, preemptions } = state;
  // What was told to stop makes room for as many.
  let wanted = queue.waitingAt(CRITICAL) - attempts.preempted.size;
  while (wanted > 0 && mayLook(state)) {
    const victims = findVictims(state, group, queue.request);
    if (victims === null) {
      preemptions.lookedAt = state.mono;
      return;
    }
    for (const attempt of victims.attempts.flatMap((one) => withGang(state, one))) {
      killAttempt(recorder, attempt, 'preempted');
      attempts.preempted.add(attempt);
      preemptions.recent.push(state.mono);
    }
    wanted -= 1;
  }
}

function mayLook({ settings, preemptions, mono }: State): boolean {
  const { recent } = preemptions;
  while (recent.length > 0 && recent[0]! <= mono - MINUTE_MS) recent.shift();
  return recent.length < settings.preemptionsPerMinute && mono - preemptions.lookedAt >= LOOK_AGAIN_MS;
}

/** Of all workers of the group the one where the least is lost. */
function findVictims(state: State, group: OfferGroup, request: Request | null): Victims | null {
  let best: Victims | null = null;
  // A worker for itself would cost all that runs there, and several workers for a gang as much.
  if (request?.exclusive === true || request?.gang !== undefined) return null;
  for (const worker of state.workers.all()) {
    if (worker.isDraining || worker.hasLeft || worker.running === 0) continue;
    if (!worker.offers.some((offer) => offer.group === group)) continue;
    if (request !== null && misfitOf(request, worker.traits) !== null) continue;
    const found = victimsOn(state, worker, request);
    if (found !== null && (best === null || isBetter(found, best))) best = found;
  }
  return best;
}

function isBetter(a: Victims, b: Victims): boolean {
  return a.priority === b.priority ? a.lostMs < b.lostMs : a.priority > b.priority;
}

/** As many as make room for one such task; null where that can't be. */
function victimsOn(state: State, worker: Worker, request: Request | null): Victims | null {
  const able = attemptsOfWorker(state, worker)
    .filter((attempt) => mayStop(state, attempt))
    .map((attempt) => ({ attempt, priority: priorityOf(state, attempt), lostMs: lostBy(state, attempt) }))
    .sort((a, b) => b.priority - a.priority || a.lostMs - b.lostMs);
  const room: Room = {};
  for (const offer of worker.offers) addAmounts(room, offer.room);
  const chosen: typeof able = [];
  const isEnough = () =>
    (worker.free > 0 || chosen.length > 0) && (request === null || hasAmounts(room, request.resources));
  for (const one of able) {
    if (isEnough()) break;
    const gives = requestOf(taskSpecOf(state, state.attempts.task[one.attempt]!).placement)?.resources ?? {};
    const helps = worker.free === 0 && chosen.length === 0;
    if (!helps && !Object.keys(gives).some((name) => (room[name] ?? 0) < (request?.resources[name] ?? 0))) continue;
    addAmounts(room, gives);
    chosen.push(one);
  }
  if (chosen.length === 0 || !isEnough()) return null;
  return {
    attempts: chosen.map(({ attempt }) => attempt),
    priority: Math.min(...chosen.map(({ priority }) => priority)),
    lostMs: chosen.reduce((sum, { lostMs }) => sum + lostMs, 0),
  };
}

function mayStop(state: State, attempt: AttemptSlot): boolean {
  const slot = state.attempts.task[attempt]!;
  return (
    priorityOf(state, attempt) >= NORMAL &&
    taskSpecOf(state, slot).preemptible !== false &&
    !state.attempts.preempted.has(attempt) &&
    besideOf(state, attempt) === NO_ATTEMPT &&
    mayRun(state, slot)
  );
}

function priorityOf({ runs, tasks, attempts }: State, attempt: AttemptSlot): number {
  return runs.priority[tasks.run[attempts.task[attempt]!]!]!;
}

/** With a member of a gang all of them lose their work. */
function lostBy(state: State, attempt: AttemptSlot): number {
  const { attempts, mono } = state;
  const of = (one: AttemptSlot) => mono - (attempts.watches.get(one)?.savedAt ?? attempts.claimedMono[one]!);
  return withGang(state, attempt).reduce((sum, one) => sum + of(one), 0);
}

/** What runs of its gang: no member goes on without the others. Any other attempt is alone. */
function withGang(state: State, attempt: AttemptSlot): readonly AttemptSlot[] {
  const slot = state.attempts.task[attempt]!;
  if (!isMember(state, slot)) return [attempt];
  const running = (membersOf(state, slot) ?? []).map((member) => leadingOf(state, member));
  return running.filter((one) => one !== NO_ATTEMPT && !state.attempts.preempted.has(one));
}

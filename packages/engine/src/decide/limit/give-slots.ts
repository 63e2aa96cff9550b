/**
 * The home of a limit that spans shards gives its slots to shards and recalls them. What was given counts until the shard has said
 * that it gave it back, so the sum of all that shards have never exceeds the limit (I44, D10).
 *
 * Shards that want more take turns: the best class first, then who has least, then who waits longest. A shard keeps a slot while it has tasks for it, until
 * another shard wants it and its turn is over. So a slot seldom travels, and nobody waits for ever.
 */
import { type Answer, DONE, refuse } from '../../model/answer.ts';
import type { AskSlots, SetLimit, SlotsTold } from '../../model/command.ts';
import { tenantLimit } from '../../model/limit.ts';
import type { Grant } from '../../tables/limit/home.ts';
import { Home } from '../../tables/limit/home.ts';
import { isCapOfQuota } from '../../tables/quota/cap-of-quota.ts';
import type { Recorder } from '../recorder.ts';

/** How long a shard may keep a slot in use that others want. */
const TURN_MS = 2_000;
/** A shard that wants says so every few seconds. */
const WANTED_MS = 10_000;
const REPEAT_MS = 1_000;
/** Of fewer slots than this none stays where it is not needed. */
const SMALL = 64;
const IDLE_RANK = 1_000;

export function setLimit(recorder: Recorder, command: SetLimit): Answer {
  const { tenantId, limit } = command;
  if (limit === tenantLimit(tenantId) && isCapOfQuota(recorder.state, command)) return refuse('LIMIT_OF_QUOTA', limit);
  changeLimit(recorder, command);
  return DONE;
}

export function changeLimit(
  recorder: Recorder,
  { shard, tenantId, limit, slots, actor }: Omit<SetLimit, 'kind'>,
): void {
  const { state } = recorder;
  const home = state.limits.home(shard, limit);
  // A repeat; or there never was such a limit.
  if (home.slots === slots) return;
  const no = home.no + 1;
  const sinceNo = home.slots === null || slots === null ? no : home.sinceNo;
  recorder.record({ kind: 'LimitSet', shard, tenantId, limit, slots, no, sinceNo, actor, at: state.now });
  settleHome(recorder, home);
}

export function askSlots(recorder: Recorder, command: AskSlots): Answer {
  const { state } = recorder;
  const home = state.limits.home(command.shard, command.limit);
  const grant = home.grant(command.from);
  hear(recorder, home, grant, command);
  const isNewWant = grant.wants === 0 && command.wants > 0;
  if (isNewWant) grant.turn = home.nextTurn();
  const { wants, lacks, least, priority, isIdle } = command;
  Object.assign(grant, { wants, lacks, least, priority, isIdle, askedAt: state.mono });
  settleHome(recorder, home, grant);
  return { ok: true, kind: 'slots', ...toldTo(home, grant) };
}

/** With a tick. */
export function wakeLimits(recorder: Recorder): void {
  const { limits, mono } = recorder.state;
  for (const of of limits.due(mono)) {
    if (of instanceof Home) settleHome(recorder, of);
    else limits.touch(of);
  }
}

/** Sums only grow: what comes late is old. */
function hear(recorder: Recorder, home: Home, grant: Grant, said: AskSlots): void {
  const returned = Math.max(grant.returned, said.returned);
  const seized = Math.max(grant.seized, said.seized);
  const heardNo = Math.max(grant.heardNo, said.no);
  const isKnown = returned === grant.returned && seized === grant.seized && heardNo === grant.heardNo;
  if (isKnown) return;
  record(recorder, home, grant, { returned, seized, heardNo });
}

type Sums = Pick<Grant, 'given' | 'seized' | 'returned' | 'heardNo'>;

function record(recorder: Recorder, { shard, name: limit }: Home, grant: Grant, sums: Partial<Sums>): void {
  const { holder, given, seized, returned, heardNo } = grant;
  recorder.record({ kind: 'SlotsGranted', shard, limit, holder, given, seized, returned, heardNo, ...sums });
}

function toldTo(home: Home, { given, recall, wants, returned, seized, heardNo }: Grant): SlotsTold {
  return { given, recall, isTight: home.isTight, isWanting: wants > 0, heard: { returned, seized, no: heardNo } };
}

/** Gives what is free, recalls what others wait for, and tells those whom it concerns. `asking` is told by the answer. */
function settleHome(recorder: Recorder, home: Home, asking: Grant | null = null): void {
  const { state } = recorder;
  const { mono } = state;
  if (home.most === Number.POSITIVE_INFINITY) return state.limits.wake(home, null);
  // Whoever was given something may want more: a new owner of the home does not know.
  const news = new Set<Grant>(home.isNew ? home.grants.values() : []);
  home.isNew = false;
  const waiting = giveFree(recorder, home, news);
  const isTight = home.most < SMALL || waiting.length > 0 || home.out() > home.most;
  if (isTight && !home.isTight) for (const grant of home.grants.values()) if (grant.out > 0) news.add(grant);
  home.isTight = isTight;
  const turnEndsAt = recall(home, waiting, mono, news);
  // What was told may be lost: what has not come back is asked for again.
  const late = mono - home.toldAt >= REPEAT_MS ? [...home.grants.values()].filter(({ recalled }) => recalled > 0) : [];
  for (const grant of late) news.add(grant);
  if (news.size > 0) home.toldAt = mono;
  for (const grant of news) {
    if (grant === asking) continue;
    recorder.send({ kind: 'TellSlots', shard: grant.holder, limit: home.name, ...toldTo(home, grant) });
  }
  const isOpen = waiting.length > 0 || [...home.grants.values()].some(({ recalled }) => recalled > 0);
  state.limits.wake(home, isOpen ? Math.min(turnEndsAt, mono + REPEAT_MS) : null);
}

/** To each in turn what it lacks, and more to all alike. Answers who still waits, the first in turn first. */
function giveFree(recorder: Recorder, home: Home, news: Set<Grant>): Grant[] {
  const { mono } = recorder.state;
  const wanting = [...home.grants.values()].filter(
    ({ wants, out, lacks, least, askedAt }) =>
      lacks > 0 && wants > out && least <= home.most && mono - askedAt < WANTED_MS,
  );
  // Who has least comes first: nobody is given what is recalled from it in the same breath.
  wanting.sort((a, b) => rankOf(a) - rankOf(b) || a.out - b.out || a.turn - b.turn);
  let free = home.most - home.out();
  const waiting: Grant[] = [];
  wanting.forEach((grant, i) => {
    // What comes back is kept for the first that lacks it: tasks that take many slots get their turn, too.
    if (waiting.length > 0 || free + grant.recalled < grant.lacks) {
      waiting.push(grant);
      return;
    }
    const share = Math.floor(free / (wanting.length - i));
    const amount = Math.max(grant.lacks, Math.min(grant.wants - grant.out, share));
    // What it was to give back it may keep.
    const kept = Math.min(grant.recalled, amount);
    grant.recall -= kept;
    free -= amount - kept;
    if (amount > kept) record(recorder, home, grant, { given: grant.given + amount - kept });
    // If that is not enough, it says so.
    Object.assign(grant, { turn: home.nextTurn(), turnEndsAt: mono + TURN_MS, lacks: grant.least });
    news.add(grant);
  });
  return waiting;
}

/** A shard whose workers take nothing comes last. */
function rankOf({ isIdle, priority }: Grant): number {
  return isIdle ? IDLE_RANK : priority;
}

/** Answers when the next turn ends of a shard that has what others wait for. */
function recall(home: Home, waiting: readonly Grant[], mono: number, news: Set<Grant>): number {
  const holders = [...home.grants.values()].filter((grant) => grant.out > grant.recalled);
  let left = home.most - home.out();
  // What does not come back soon is in use. So long as that goes on, slots that no worker takes, or that do lesser work, are better.
  let soon = left;
  for (const { recalled, recalledAt } of home.grants.values()) {
    left += recalled;
    if (mono - recalledAt < REPEAT_MS) soon += recalled;
  }
  const take = (grant: Grant, count: number) => {
    grant.recall = Math.max(grant.recall, grant.returned) + count;
    // It comes after those for whom it gives.
    grant.turn = home.nextTurn();
    grant.recalledAt = mono;
    left += count;
    soon += count;
    news.add(grant);
  };
  const keeps = ({ out, recalled }: Grant) => out - recalled;
  holders.sort((a, b) => rankOf(b) - rankOf(a) || keeps(b) - keeps(a) || a.turnEndsAt - b.turnEndsAt);
  // The limit was lowered.
  for (const grant of holders) if (left < 0) take(grant, Math.min(keeps(grant), -left));
  let next = Number.POSITIVE_INFINITY;
  for (const first of waiting) {
    for (const grant of holders) {
      const kept = keeps(grant);
      if (grant === first || kept === 0) continue;
      // Where nothing waits any more, it gives back by itself.
      const rank = grant.isIdle || grant.wants > 0 ? rankOf(grant) : rankOf(first);
      const isLesser = rank > rankOf(first);
      if (rank < rankOf(first) || (isLesser ? soon : left) >= first.lacks) continue;
      // What is left must be as much as the first has then, and enough for a task of its own; if not, when its turn is over.
      const isMuch = kept - first.lacks >= Math.max(first.out + first.lacks, grant.least);
      if (isLesser) take(grant, Math.min(kept, first.lacks - soon));
      else if (isMuch) take(grant, Math.min(first.lacks, first.lacks - left));
      else if (kept > first.out && grant.turnEndsAt <= mono) {
        take(grant, 1);
        grant.turnEndsAt = mono + TURN_MS;
      } else if (kept > first.out) next = Math.min(next, grant.turnEndsAt);
    }
    left -= first.lacks;
    soon -= first.lacks;
  }
  return next;
}

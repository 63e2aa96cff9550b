/**
 * What a shard does with its slots of limits that span shards: it asks the home of a limit for what it lacks, takes what it is given,
 * and gives back what is recalled or not needed. All that it says are sums that only grow, so messages may come late, twice or never
 * (D10). A slot that goes back is out of use in the commit that says so, before the home hears of it.
 */
import { type Answer, DONE } from '../../model/answer.ts';
import type { SetLimits, TakeSlots } from '../../model/command.ts';
import type { ShardNo } from '../../model/ids.ts';
import { isKept, type LimitName } from '../../model/limit.ts';
import type { Hold } from '../../tables/limit/hold.ts';
import { usedUnder } from '../../tables/limit/used-under.ts';
import type { Recorder } from '../recorder.ts';

/** What is not answered is said again. */
const REPEAT_MS = 1_000;
/** What is wanted still is said again, in case that the home has another owner that does not know. */
const WANT_AGAIN_MS = 3_000;
/** Where slots are not short, those that nobody needs stay for so long. */
const KEEP_MS = 1_000;
/** After a shard had slots that no worker took, others come first for so long. */
const IDLE_MS = 5_000;
/** A slot for which a task waits, but no worker takes it, is others' first after this. */
const STALL_MS = 500;
/** Of the changes of a step. */
const CAPS_SHARE = 0.25;

/** The host has read which caps there are. */
export function setLimits({ state }: Recorder, { limits }: SetLimits): void {
  for (const { limit, no, isLimited } of limits) state.limits.caps.set(limit, { no, isLimited });
  state.limits.hasNews = true;
}

export function takeSlots(recorder: Recorder, command: TakeSlots): Answer {
  const { shard, limit, given, recall, isTight, isWanting, heard } = command;
  const hold = recorder.state.limits.hold(shard, limit);
  if (given > hold.taken) record(recorder, hold, { taken: given });
  const { returned = 0, seized = 0, no = 0 } = hold.heard ?? {};
  hold.heard = {
    returned: Math.max(returned, heard.returned),
    seized: Math.max(seized, heard.seized),
    no: Math.max(no, heard.no),
  };
  // The last word counts. One that was overtaken on the way does no harm: the home says again what it waits for.
  hold.recall = recall;
  hold.isTight = isTight;
  // Another owner of the home, which has not heard what is wanted.
  if (!isWanting && hold.asked?.isShort === true) hold.asked = null;
  hold.settle();
  return DONE;
}

/** At the end of a step. Answers false when the step was full before that. */
export function settleHolds(recorder: Recorder): boolean {
  const { limits } = recorder.state;
  for (const hold of limits.touched) {
    if (recorder.isFull()) return false;
    settleHold(recorder, hold);
    // What it has just given back has touched it again.
    limits.touched.delete(hold);
  }
  return true;
}

/**
 * Before slots and tasks are matched. Each shard stores which caps it goes by: the next owner knows them before it claims anything.
 * Until a shard has heard of a cap, the home shows it as pending. Many caps take a share of the step, or nothing would begin
 * meanwhile. Answers false when there are more.
 */
export function hearCaps(recorder: Recorder): boolean {
  const { limits, shards, settings } = recorder.state;
  if (!limits.hasNews) return true;
  const full = recorder.changes.length + Math.ceil(settings.changesPerStep * CAPS_SHARE);
  for (const [name, { no, isLimited }] of limits.caps) {
    for (const shard of shards.keys()) {
      const known = limits.find(shard, name);
      if ((known?.no ?? 0) >= no) continue;
      if (recorder.changes.length >= full || recorder.isFull()) return false;
      hearCap(recorder, { shard, name, no, isLimited });
    }
  }
  limits.hasNews = false;
  return true;
}

interface Cap {
  readonly shard: ShardNo;
  readonly name: LimitName;
  readonly no: number;
  readonly isLimited: boolean;
}

/** What runs already is more than it was given, perhaps: it keeps that, and the home counts it. */
function hearCap(recorder: Recorder, { shard, name, no, isLimited }: Cap): void {
  const { state } = recorder;
  const known = state.limits.find(shard, name);
  const { have = 0, taken = 0, seized = 0, returned = 0 } = known ?? {};
  const isCounted = known !== undefined && (known.isLimited || !(isKept(name) || known.countsStarts));
  const inUse = isCounted ? known.used : usedUnder(state, { shard, name });
  const more = isLimited ? Math.max(0, inUse - have) : 0;
  recorder.record({ kind: 'SlotsHeld', shard, limit: name, no, isLimited, taken, seized: seized + more, returned });
}

function record(recorder: Recorder, hold: Hold, more: { readonly taken?: number; readonly returned?: number }): void {
  const { shard, name: limit, no, isLimited, taken, seized, returned } = hold;
  recorder.record({ kind: 'SlotsHeld', shard, limit, no, isLimited, taken, seized, returned, ...more });
}

function settleHold(recorder: Recorder, hold: Hold): void {
  const { state } = recorder;
  // Without a limit nothing is counted; that it knows so is said all the same.
  const back = hold.isLimited ? dispensable(hold, state.mono) : { count: 0, wakeAt: null };
  if (back.count > 0) record(recorder, hold, { returned: hold.returned + back.count });
  state.limits.wake(hold, soonest(back.wakeAt, ask(recorder, hold)));
}

/** How many slots go back now, and when to look again. */
function dispensable(hold: Hold, mono: number): { readonly count: number; readonly wakeAt: number | null } {
  const idle = Math.max(0, hold.have - hold.used);
  const owed = Math.min(hold.owed, idle);
  if (idle === owed) {
    hold.idleSince = null;
    if (mono >= hold.idleUntil) hold.isIdle = false;
    return { count: owed, wakeAt: hold.isIdle ? hold.idleUntil : null };
  }
  hold.idleSince ??= mono;
  const forMs = mono - hold.idleSince;
  const least = hold.least();
  // Too little for any task that waits is of no use here: the home gives it in one piece.
  const isAble = least > 0 && hold.free >= least;
  const spare = isAble ? Math.max(0, idle - owed - hold.waits()) : idle - owed;
  const isDue = hold.isTight || forMs >= KEEP_MS;
  const count = owed + (isDue ? spare : 0);
  if (isAble && forMs >= STALL_MS) {
    hold.isIdle = true;
    hold.idleUntil = mono + IDLE_MS;
  }
  const stallsAt = isAble && forMs < STALL_MS ? hold.idleSince + STALL_MS : null;
  return { count, wakeAt: soonest(stallsAt, spare > 0 && !isDue ? hold.idleSince + KEEP_MS : null) };
}

/** Says to the home what it has not heard, and what is wanted. Answers when to look again. */
function ask(recorder: Recorder, hold: Hold): number | null {
  const { mono } = recorder.state;
  const { returned, seized, no, heard, asked, isIdle } = hold;
  const waits = hold.isLimited ? hold.waits() : 0;
  const least = nextSize(hold);
  const isShort = waits > 0 && hold.free < least;
  const isHeard = heard !== null && heard.returned === returned && heard.seized === seized && heard.no === no;
  const wants = waits > 0 ? hold.used + waits : 0;
  const lacks = isShort ? least - hold.free : 0;
  const isNews =
    asked === null ||
    asked.returned !== returned ||
    asked.seized !== seized ||
    asked.no !== no ||
    asked.isIdle !== isIdle ||
    asked.isShort !== isShort ||
    // It asked while more was in use than it has: the home keeps that much for it, or has not so many.
    (asked.lacks > least && lacks < asked.lacks) ||
    // The home believes that it has all that it wants.
    (isShort && asked.wants <= hold.have);
  const againMs = isHeard ? WANT_AGAIN_MS : REPEAT_MS;
  const isDue = isHeard && !isShort ? asked !== null && isNews : isNews || mono - hold.askedAt >= againMs;
  if (!isDue) return isHeard && !isShort ? null : hold.askedAt + againMs;
  hold.asked = { returned, seized, no, wants, lacks, isShort, isIdle };
  hold.askedAt = mono;
  const wanted = { wants, lacks, least, priority: waits > 0 ? hold.best() : 0 };
  recorder.send({ kind: 'AskHome', limit: hold.name, from: hold.shard, returned, seized, no, isIdle, ...wanted });
  return mono + againMs;
}

/** The size of the tasks that slots are asked for: the smallest. If no worker takes those that fit, the next larger ones get their chance (I47). */
function nextSize(hold: Hold): number {
  const larger = hold.isIdle ? hold.least(hold.free) : 0;
  return larger > 0 ? larger : hold.least();
}

function soonest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}

/**
 * Warm child processes for functions: at most one per slot, each with one bundle of one tenant. Attempts wait here in the order
 * in which they came, begin where a child and a slot are free, and are sent ahead to a child whose attempts are short. Only a
 * few children start at a time, so a burst of short attempts is run by the existing ones instead of a hundred new ones.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FunctionWork } from '@signalbox/protocol';
import type { StopReason } from '@signalbox/sdk';
import type { BundleFile } from '../bundles/bundle-folder.ts';
import { failure } from '../result.ts';
import type { Slots } from '../slots.ts';
import type { ChildHome } from './child-home.ts';
import type { Execution } from './execution.ts';
import { FunctionChild } from './function-child.ts';
import type { HeldAttempt, HeldListener } from './held-attempt.ts';
import type { Ended, Job, JobListener } from './port.ts';
import { Suspects } from './suspects.ts';

const IDLE_MS = 60_000;
/** How many idle children stay, whatever their age, so the next attempt does not wait for a start. */
const KEPT_WARM = 2;
const LOOK_MS = 5_000;
/** How long an attempt waits for an existing child before another is started, which takes three times as long. */
const PATIENCE_MS = 15;
/** Attempts that take less than this keep a processor busy, and more children than processors would not make them faster. */
const BRIEF_MS = 2;
/** An attempt that was sent ahead does not wait longer than this for the one before it. */
const BUSY_MS = 50;
/** Looked up once: it is a system call, and was made for each attempt. */
const PROCESSORS = Math.max(2, availableParallelism());

/** All attempts of one tenant, bundle, memory limit and concurrency: they may share children. */
interface Group {
  readonly key: string;
  readonly tenant: string;
  readonly bundle: BundleFile;
  readonly memoryBytes: number;
  readonly concurrency: number;
  readonly children: Set<FunctionChild>;
  starting: number;
  /** How long an attempt takes, by the last few. */
  usualMs: number;
  readonly waiting: PooledAttempt[];
}

export interface PoolParts {
  readonly home: ChildHome;
  readonly slots: Slots;
  readonly mostChildren: number;
  /** Whether others wait for a slot: then none is handed on within the pool. */
  readonly othersWait: () => boolean;
  /** A slot is free again. */
  readonly onSlot: () => void;
}

/** One attempt in the pool. It is its own listener and its own execution: an object for each would be the larger part of a short attempt. */
class PooledAttempt implements Execution, HeldListener {
  readonly group: Group;
  readonly job: Job;
  readonly listener: JobListener;
  readonly isAlone: boolean;
  /** Whether it was given a slot before it came here. */
  readonly ownsSlot: boolean;
  readonly #keeper: Keeper;
  since = performance.now();
  /** Whether it holds one of the pool's slots. */
  hasSlot = false;
  child: FunctionChild | null = null;
  held: HeldAttempt | null = null;
  /** It is to end, and not to begin; and how. */
  wantsEnd: Ended | null = null;
  /** It is to end by force, should it have begun all the same. */
  mustDie = false;
  isOver = false;

  constructor(keeper: Keeper, group: Group, job: Job, listener: JobListener, isAlone: boolean) {
    this.#keeper = keeper;
    this.group = group;
    this.job = job;
    this.listener = listener;
    this.isAlone = isAlone;
    this.ownsSlot = job.hasSlot;
  }

  /** It is in a child, and was told apart from those that only wait there. */
  get hasBegun(): boolean {
    return this.held !== null && this.held.state !== 'ahead';
  }

  stop(reason: StopReason): void {
    this.#keeper.stop(this, reason);
  }

  kill(): boolean {
    this.#keeper.kill(this);
    return true;
  }

  withdraw(): void {
    this.#keeper.leave(this, WITHDRAWN);
  }

  began(): void {
    this.#keeper.began(this);
  }

  end(ended: Ended): void {
    this.#keeper.end(this, ended);
  }

  takenBack(): void {
    this.#keeper.takenBack(this);
  }
}

/** What the pool does for one of its attempts. */
interface Keeper {
  stop(attempt: PooledAttempt, reason: StopReason): void;
  kill(attempt: PooledAttempt): void;
  leave(attempt: PooledAttempt, ended: Ended): void;
  began(attempt: PooledAttempt): void;
  end(attempt: PooledAttempt, ended: Ended): void;
  takenBack(attempt: PooledAttempt): void;
}

const WITHDRAWN: Ended = { returned: 'it waited for others to end', hasBegun: false, isSuspect: false };

export class FunctionPool {
  readonly #parts: PoolParts;
  readonly #groups = new Map<string, Group>();
  /** Most attempts are of the same group as the one before. */
  #lastGroup: Group | null = null;
  readonly #suspects = new Suspects();
  readonly #keeper: Keeper = {
    stop: (attempt, reason) => this.#stop(attempt, reason),
    kill: (attempt) => this.#kill(attempt),
    leave: (attempt, ended) => this.#leave(attempt, ended),
    began: (attempt) => this.#began(attempt),
    end: (attempt, ended) => this.#end(attempt, ended),
    takenBack: (attempt) => this.#takenBack(attempt),
  };
  #childCount = 0;
  /** Attempts that have ended in a child. */
  endedCount = 0;
  #startingCount = 0;
  /** Where all of them start; made with the first. */
  #folder: string | null = null;
  #looker: NodeJS.Timeout | null = null;
  #soon: NodeJS.Timeout | null = null;
  #isClosed = false;
  #onEmpty: (() => void) | null = null;

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  get childCount(): number {
    return this.#childCount;
  }

  /** When the attempt came that has waited longest; null if none waits. */
  get oldestWaitingAt(): number | null {
    let oldest: number | null = null;
    for (const { waiting } of this.#groups.values()) {
      const at = waiting[0]?.job.attempt.arrivedAt;
      if (at !== undefined && (oldest === null || at < oldest)) oldest = at;
    }
    return oldest;
  }

  run(job: Job, bundle: BundleFile, listener: JobListener): Execution {
    const group = this.#groupOf(job, bundle);
    const isAlone = (job.work.shape as FunctionWork).isolation === 'process' || this.#suspects.has(job.assignment);
    const attempt = new PooledAttempt(this.#keeper, group, job, listener, isAlone);
    group.waiting.push(attempt);
    this.#give(group);
    if (attempt.child === null) this.#startSome();
    return attempt;
  }

  /** A slot may be free: whoever waits longest is first. */
  giveSome(): void {
    for (const group of this.#groups.values()) if (group.waiting.length > 0) this.#give(group);
    this.#startSome();
  }

  /** Called with each tick of the worker. */
  look(now: number): void {
    for (const { children } of this.#groups.values()) for (const child of children) child.look(now, BUSY_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#looker !== null) clearInterval(this.#looker);
    if (this.#soon !== null) clearTimeout(this.#soon);
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const { children } of this.#groups.values()) for (const child of children) child.retire();
    if (this.#childCount > 0) await empty;
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }

  #groupOf({ assignment, work }: Job, bundle: BundleFile): Group {
    const { tenant, memoryBytes } = assignment;
    const { concurrency = 1 } = work.shape as FunctionWork;
    const last = this.#lastGroup;
    if (last !== null && last.tenant === tenant && last.bundle.hash === bundle.hash) {
      if (last.memoryBytes === memoryBytes && last.concurrency === concurrency) return last;
    }
    // A child has its limits from its start on.
    const key = `${tenant}/${bundle.hash}/${memoryBytes}/${concurrency}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      const children = new Set<FunctionChild>();
      group = { key, tenant, bundle, memoryBytes, concurrency, children, starting: 0, usualMs: BRIEF_MS, waiting: [] };
      this.#groups.set(key, group);
    }
    this.#lastGroup = group;
    return group;
  }

  // ---- giving

  #give(group: Group): void {
    const { waiting } = group;
    const now = performance.now();
    let given = 0;
    while (given < waiting.length && this.#place(waiting[given] as PooledAttempt, now)) given++;
    if (given > 0) waiting.splice(0, given);
  }

  #place(waiting: PooledAttempt, now: number): boolean {
    const { group, isAlone, ownsSlot } = waiting;
    const free = childWithRoom(group.children, isAlone);
    if (free !== null) {
      if (!ownsSlot && !this.#parts.slots.take()) return false;
      waiting.hasSlot = !ownsSlot;
      this.#send(waiting, free);
      return true;
    }
    // One that was taken back has waited behind a busy child once: it begins where a child is free.
    const wasTakenBack = waiting.since === Number.NEGATIVE_INFINITY;
    if (isAlone || ownsSlot || wasTakenBack || this.#parts.othersWait()) return false;
    const ahead = childWithRoomAhead(group.children, now);
    if (ahead === null) return false;
    this.#send(waiting, ahead);
    return true;
  }

  #send(waiting: PooledAttempt, child: FunctionChild): void {
    waiting.child = child;
    waiting.held = child.run(waiting.job, waiting, waiting.isAlone);
  }

  #began(waiting: PooledAttempt): void {
    // The slot of the one that it follows.
    if (!waiting.ownsSlot && !waiting.hasSlot) {
      this.#parts.slots.free--;
      waiting.hasSlot = true;
    }
    waiting.listener.began();
    if (waiting.mustDie) this.#kill(waiting);
  }

  #end(waiting: PooledAttempt, ended: Ended): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    const { assignment } = waiting.job;
    if ('returned' in ended && ended.isSuspect) this.#suspects.add(assignment);
    else if (!('returned' in ended)) this.#suspects.clear(assignment);
    this.#releaseSlot(waiting);
    waiting.listener.end(ended);
  }

  #releaseSlot(waiting: PooledAttempt): void {
    if (!waiting.hasSlot) return;
    waiting.hasSlot = false;
    this.#parts.slots.release();
    this.#parts.onSlot();
  }

  /** Its child was busy, or has ended, before it began: it waits again, in its old place. */
  #takenBack(waiting: PooledAttempt): void {
    waiting.child = null;
    waiting.held = null;
    this.#releaseSlot(waiting);
    if (waiting.wantsEnd !== null) return this.#end(waiting, waiting.wantsEnd);
    if (this.#isClosed) return this.#end(waiting, WITHDRAWN);
    const queue = waiting.group.waiting;
    const { arrivedAt } = waiting.job.attempt;
    const at = queue.findIndex((other) => other.job.attempt.arrivedAt > arrivedAt);
    queue.splice(at === -1 ? queue.length : at, 0, waiting);
    // It has waited enough.
    waiting.since = Number.NEGATIVE_INFINITY;
    this.#lookSoon();
  }

  // ---- ending

  #stop(waiting: PooledAttempt, reason: StopReason): void {
    const { child, held } = waiting;
    if (child !== null && held !== null && waiting.hasBegun) child.stop(held, reason);
    // It may still run once the connection is back.
    else if (reason !== 'lost') this.#leave(waiting, failure('cancelled', ''));
  }

  #kill(waiting: PooledAttempt): void {
    const { child, held } = waiting;
    if (child !== null && held !== null && waiting.hasBegun) child.killFor(held);
    else {
      waiting.mustDie = true;
      this.#leave(waiting, failure('cancelled', ''));
    }
  }

  /** Ends it this way, unless it has begun. */
  #leave(waiting: PooledAttempt, ended: Ended): void {
    if (waiting.isOver) return;
    const { child, held } = waiting;
    if (child !== null && held !== null) {
      if (waiting.hasBegun) return;
      waiting.wantsEnd ??= ended;
      child.takeBack(held);
      return;
    }
    const queue = waiting.group.waiting;
    const at = queue.indexOf(waiting);
    if (at !== -1) queue.splice(at, 1);
    this.#end(waiting, ended);
  }

  // ---- children

  /** Whoever waits for a bundle that no child has gets one at once; the others after a while. */
  #startSome(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    let isEarly = false;
    for (const group of this.#groups.values()) {
      let free = group.starting * group.concurrency;
      for (const { since, job, ownsSlot } of group.waiting) {
        if (free-- > 0) continue;
        if (this.#startingCount >= PROCESSORS) return;
        const { size } = group.children;
        if (group.usualMs < BRIEF_MS && briskOf(group.children, now) >= PROCESSORS) break;
        if (size > 0 && now - since < PATIENCE_MS) {
          isEarly = true;
          break;
        }
        if (this.#parts.slots.free <= 0 && size > 0 && !ownsSlot) break;
        if (this.#childCount >= this.#parts.mostChildren && !this.#endOldestIdle()) return;
        this.#start(group, job);
        free = group.concurrency - 1;
      }
    }
    if (isEarly) this.#lookSoon();
  }

  #lookSoon(): void {
    if (this.#isClosed) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = null;
      this.giveSome();
    }, PATIENCE_MS);
  }

  #start(group: Group, { assignment }: Job): void {
    try {
      this.#folder ??= mkdtempSync(join(tmpdir(), 'signalbox-functions-'));
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      this.#failFirst(group, `No working folder could be made: ${said}`);
      return;
    }
    this.#startingCount++;
    this.#childCount++;
    group.starting++;
    let hasStarted = false;
    const started = (): void => {
      if (hasStarted) return;
      hasStarted = true;
      this.#startingCount--;
      group.starting--;
    };
    const { key, bundle, concurrency } = group;
    const place = { key, bundle, folder: this.#folder, memoryBytes: assignment.memoryBytes, concurrency };
    const child = new FunctionChild(place, this.#parts.home, {
      onRoom: () => {
        started();
        this.#hasRoom(group, child);
      },
      onAttempt: (_, ms) => {
        this.endedCount++;
        group.usualMs += (ms - group.usualMs) / 8;
      },
      onEnded: (_, error) => {
        started();
        this.#forget(group, child, error);
      },
    });
    group.children.add(child);
    this.#looker ??= setInterval(() => this.endIdle(performance.now()), LOOK_MS).unref();
  }

  #hasRoom(group: Group, child: FunctionChild): void {
    if (group.waiting.length > 0) this.#give(group);
    if (group.waiting.length > 0) this.#lookSoon();
    // Others may wait for its place.
    else if (child.isIdle && this.#childCount >= this.#parts.mostChildren) this.#startSome();
  }

  #forget(group: Group, child: FunctionChild, error: string | null): void {
    group.children.delete(child);
    this.#childCount--;
    if (error !== null) this.#failFirst(group, error);
    if (group.children.size === 0 && group.waiting.length === 0) {
      this.#groups.delete(group.key);
      if (this.#lastGroup === group) this.#lastGroup = null;
    }
    if (this.#childCount === 0) this.#onEmpty?.();
    this.#startSome();
  }

  /** Each of those that wait gets a try of its own. */
  #failFirst(group: Group, error: string): void {
    const first = this.#isClosed ? undefined : group.waiting.shift();
    if (first !== undefined) this.#end(first, failure('transient', error));
  }

  #endOldestIdle(): boolean {
    const [oldest] = this.#idleChildren();
    oldest?.retire();
    return oldest !== undefined;
  }

  /** Those that have been idle for long, but for a few. */
  endIdle(now: number): void {
    const idle = this.#idleChildren();
    for (const child of idle.slice(0, Math.max(0, idle.length - KEPT_WARM))) {
      if (now - child.idleSince >= IDLE_MS) child.retire();
    }
  }

  #idleChildren(): FunctionChild[] {
    return [...this.#groups.values()]
      .flatMap(({ children }) => [...children].filter(({ isIdle }) => isIdle))
      .sort((a, b) => a.idleSince - b.idleSince);
  }
}

/** How many of them end one attempt after the other. */
function briskOf(children: Iterable<FunctionChild>, now: number): number {
  let count = 0;
  for (const child of children) if (child.isBrisk(now, PATIENCE_MS)) count++;
  return count;
}

/** The one that was used last is the warmest; of those that run several, the fullest. */
function childWithRoom(children: Iterable<FunctionChild>, isAlone: boolean): FunctionChild | null {
  let best: FunctionChild | null = null;
  for (const child of children) {
    if (isAlone ? !child.isIdle : child.roomNow === 0) continue;
    const isBetter =
      best === null ||
      child.roomNow < best.roomNow ||
      (child.roomNow === best.roomNow && child.idleSince > best.idleSince);
    if (isBetter) best = child;
  }
  return best;
}

/** Not one that has been busy with an attempt for long: what is sent there would be taken back. */
function childWithRoomAhead(children: Iterable<FunctionChild>, now: number): FunctionChild | null {
  let best: FunctionChild | null = null;
  for (const child of children) {
    if (child.roomAhead > 0 && child.isBrisk(now, BUSY_MS) && (best === null || child.roomAhead > best.roomAhead))
      best = child;
  }
  return best;
}

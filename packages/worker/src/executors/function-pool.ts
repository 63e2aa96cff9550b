/**
 * Warm child processes for functions: at most one per slot, each with one bundle of one tenant. Attempts wait for a child
 * that is idle or nearly so. Only a few children start at a time, so a burst of short attempts is run by the existing ones
 * instead of a hundred new ones.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StopReason } from '@signalbox/sdk';
import type { BundleFile } from '../bundles/bundle-folder.ts';
import { failure, type Result } from '../result.ts';
import type { ChildHome } from './child-home.ts';
import type { Execution } from './execution.ts';
import { FunctionChild } from './function-child.ts';
import type { Job } from './port.ts';

const IDLE_MS = 60_000;
/** How many idle children stay, whatever their age, so the next attempt does not wait for a start. */
const KEPT_WARM = 2;
const LOOK_MS = 5_000;
/** How long an attempt waits for an existing child before another is started, which takes three times as long. */
const PATIENCE_MS = 15;

const NO_CHILDREN = { all: 0, starting: 0 };

interface Waiting {
  readonly key: string;
  readonly bundle: BundleFile;
  readonly job: Job;
  readonly end: (result: Result) => void;
  readonly since: number;
  child: FunctionChild | null;
}

export class FunctionPool {
  readonly #home: ChildHome;
  readonly #most: number;
  readonly #children = new Set<FunctionChild>();
  readonly #childrenOf = new Map<string, { all: number; starting: number }>();
  /** The last one used comes first: it is the warmest. */
  readonly #idle = new Map<string, FunctionChild[]>();
  readonly #waiting = new Map<string, Waiting[]>();
  #startingCount = 0;
  /** Where all of them start; made with the first. */
  #folder: string | null = null;
  #looker: NodeJS.Timeout | null = null;
  #soon: NodeJS.Timeout | null = null;
  #isClosed = false;
  #onEmpty: (() => void) | null = null;

  constructor(home: ChildHome, most: number) {
    this.#home = home;
    this.#most = most;
  }

  get childCount(): number {
    return this.#children.size;
  }

  run(job: Job, bundle: BundleFile, end: (result: Result) => void): Execution {
    const { tenant, memoryBytes } = job.assignment;
    // A child has its limit from its start on.
    const key = `${tenant}/${bundle.hash}${memoryBytes === 0 ? '' : `/${memoryBytes}`}`;
    const waiting: Waiting = { key, bundle, job, end, since: performance.now(), child: null };
    const idle = this.#idle.get(key)?.pop();
    if (idle !== undefined) this.#give(idle, waiting);
    else {
      const queue = this.#waiting.get(key);
      if (queue === undefined) this.#waiting.set(key, [waiting]);
      else queue.push(waiting);
      this.#startSome();
    }
    return {
      stop: (reason) => this.#stop(waiting, reason),
      kill: () => {
        if (waiting.child === null) this.#leaveQueue(waiting);
        else waiting.child.kill();
        return true;
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#looker !== null) clearInterval(this.#looker);
    if (this.#soon !== null) clearTimeout(this.#soon);
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const child of this.#children) child.retire();
    if (this.#children.size > 0) await empty;
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }

  #give(child: FunctionChild, waiting: Waiting): void {
    waiting.child = child;
    child.run(waiting.job, waiting.end);
  }

  #stop(waiting: Waiting, reason: StopReason): void {
    if (waiting.child !== null) waiting.child.stop(reason);
    // It may still run once the connection is back.
    else if (reason !== 'lost') this.#leaveQueue(waiting);
  }

  #leaveQueue(waiting: Waiting): void {
    const queue = this.#waiting.get(waiting.key);
    const at = queue?.indexOf(waiting) ?? -1;
    if (at === -1) return;
    queue?.splice(at, 1);
    waiting.end(failure('cancelled', ''));
  }

  /** Whoever waits for a bundle that no child has gets one at once; the others after a while. */
  #startSome(): void {
    if (this.#isClosed) return;
    const mostStarting = Math.max(2, availableParallelism());
    const now = performance.now();
    let isEarly = false;
    for (const [key, queue] of this.#waiting) {
      if (this.#startingCount >= mostStarting) return;
      const own = this.#childrenOf.get(key) ?? NO_CHILDREN;
      let free = own.starting;
      for (const { bundle, since, job } of queue) {
        if (free-- > 0) continue;
        if (this.#startingCount >= mostStarting) return;
        if (own.all > 0 && now - since < PATIENCE_MS) {
          isEarly = true;
          break;
        }
        if (this.#children.size >= this.#most && !this.#endOldestIdle()) return;
        this.#start(key, bundle, job.assignment.memoryBytes);
      }
    }
    if (isEarly) this.#lookSoon();
  }

  #lookSoon(): void {
    if (this.#isClosed) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = null;
      this.#startSome();
    }, PATIENCE_MS);
  }

  #start(key: string, bundle: BundleFile, memoryBytes: number): void {
    try {
      this.#folder ??= mkdtempSync(join(tmpdir(), 'signalbox-functions-'));
    } catch (error) {
      this.#failFirst(
        key,
        `No working folder could be made: ${error instanceof Error ? error.message : String(error)}`,
      );
      return;
    }
    this.#startingCount++;
    const own = this.#childrenOf.get(key) ?? { all: 0, starting: 0 };
    this.#childrenOf.set(key, own);
    own.all++;
    own.starting++;
    let hasStarted = false;
    const started = (): void => {
      if (hasStarted) return;
      hasStarted = true;
      this.#startingCount--;
      own.starting--;
    };
    const child = new FunctionChild({ key, bundle, folder: this.#folder, memoryBytes }, this.#home, {
      onIdle: () => {
        started();
        this.#takeNext(child);
      },
      onEnded: (_, error) => {
        started();
        if (--own.all === 0) this.#childrenOf.delete(key);
        this.#forget(child, error);
      },
    });
    this.#children.add(child);
    this.#looker ??= setInterval(() => this.endIdle(performance.now()), LOOK_MS).unref();
  }

  #takeNext(child: FunctionChild): void {
    const next = this.#waiting.get(child.key)?.shift();
    if (next !== undefined) {
      this.#give(child, next);
      this.#lookSoon();
      return;
    }
    this.#waiting.delete(child.key);
    const idle = this.#idle.get(child.key);
    if (idle === undefined) this.#idle.set(child.key, [child]);
    else idle.push(child);
    // Others may wait for its place.
    if (this.#waiting.size > 0) this.#startSome();
  }

  #forget(child: FunctionChild, error: string | null): void {
    this.#children.delete(child);
    const idle = this.#idle.get(child.key)?.filter((one) => one !== child) ?? [];
    if (idle.length === 0) this.#idle.delete(child.key);
    else this.#idle.set(child.key, idle);
    if (error !== null) this.#failFirst(child.key, error);
    if (this.#children.size === 0) this.#onEmpty?.();
    this.#startSome();
  }

  /** Each of those that wait gets a try of its own. */
  #failFirst(key: string, error: string): void {
    if (!this.#isClosed) this.#waiting.get(key)?.shift()?.end(failure('transient', error));
  }

  #endOldestIdle(): boolean {
    const oldest = this.#idleChildren()[0];
    if (oldest === undefined) return false;
    this.#end(oldest);
    return true;
  }

  /** Those that have been idle for long, but for a few. */
  endIdle(now: number): void {
    const idle = this.#idleChildren();
    for (const child of idle.slice(0, Math.max(0, idle.length - KEPT_WARM))) {
      if (now - child.idleSince >= IDLE_MS) this.#end(child);
    }
  }

  #idleChildren(): FunctionChild[] {
    return [...this.#idle.values()].flat().sort((a, b) => a.idleSince - b.idleSince);
  }

  #end(child: FunctionChild): void {
    const idle = this.#idle.get(child.key);
    idle?.splice(idle.indexOf(child), 1);
    child.retire();
  }
}

/**
 * One warm child process with one bundle.
 *
 * `starting` (loads its bundle) → `ready` (runs attempts, in the order in which they were sent) → `ended`. A child that has
 * broken in any way is ended and never used again: another takes its place.
 *
 * The child begins the attempts that it was sent by itself, as those before them end, and writes each end before it begins the
 * next one. So which attempts have begun follows from which have ended: the first `concurrency` of those that have not.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { MAX_ERROR_CHARS } from '@signalbox/protocol';
import type { StopReason } from '@signalbox/sdk';
import { sentenceOf } from '../attempt.ts';
import type { BundleFile } from '../bundles/bundle-folder.ts';
import {
  ANSWER,
  type AttemptEnd,
  BROKEN,
  END,
  EXITING,
  FrameReader,
  GO_ON,
  HEARD_STOP,
  INIT,
  type Init,
  LOG,
  MAX_WORD_BYTES,
  PRINT,
  PRINTED,
  PROGRESS,
  READY,
  REQUEST,
  RUN,
  SLOW,
  STOP,
  TAKE_BACK,
  TAKEN_BACK,
} from '../child/frames.ts';
import { orderText } from '../child/order-text.ts';
import { failure, type Result } from '../result.ts';
import { readAttemptEnd } from './attempt-end.ts';
import { causeOfEnd } from './cause-of-end.ts';
import type { ChildHome } from './child-home.ts';
import { HeldAttempt, type HeldListener } from './held-attempt.ts';
import { OrderWriter } from './order-writer.ts';
import { overMemory, ranOutSince, recentOomKills } from './out-of-memory.ts';
import type { Job } from './port.ts';
import { Printed } from './printed.ts';
import { orderOf } from './run-order.ts';
import { SharedPrints } from './shared-prints.ts';
import { ATTEMPT_MARK, signalGroup, sweep } from './sweep.ts';

/** From `src` as from `dist`: a child is always built code. */
const PROGRAM = fileURLToPath(new URL('../../dist/child/child-main.js', import.meta.url));
/** A bundle that takes longer to load hangs. */
const START_MS = 30_000;
/** How long to wait for the last output, when the child still runs or has just ended. */
const DRAIN_MS = 1_000;
/**
 * A child that has not answered for so long whether an attempt can be taken back is busy, and reads that it can before it
 * begins another one (`LISTENED_MS` there, which is much shorter).
 */
const TAKEN_FOR_GRANTED_MS = 100;
/** The next attempts are sent ahead while attempts take less than this. */
const SHORT_MS = 5;
/** A child that is done with 50,000 a second has enough of these for 5 ms, in which the worker may be busy with something else. */
const MOST_AHEAD = 256;
const MIB = 1024 * 1024;
const MISTRUSTED =
  'The function wrote to the channel between its process and the worker (descriptor 4): its process was killed.';
const NEIGHBOUR = 'its process was ended because of another attempt in it';

interface ChildPlace {
  readonly key: string;
  readonly bundle: BundleFile;
  readonly folder: string;
  /** What it may have of memory; 0 for as much as there is. */
  readonly memoryBytes: number;
  /** How many attempts it runs at a time. */
  readonly concurrency: number;
}

interface ChildListener {
  /** It has room that it did not have before. */
  onRoom(child: FunctionChild): void;
  /** An attempt has ended, after so long. */
  onAttempt(child: FunctionChild, ms: number): void;
  /** It has ended. `error` says why, when it had not even started. */
  onEnded(child: FunctionChild, error: string | null): void;
}

export class FunctionChild {
  readonly key: string;
  readonly concurrency: number;
  readonly #process: ChildProcess;
  readonly #home: ChildHome;
  readonly #listener: ChildListener;
  readonly #printed: Printed;
  readonly #orders: OrderWriter;
  readonly #wordsClosed: Promise<void>;
  readonly #mark = randomBytes(16).toString('hex');
  readonly #startTimer: NodeJS.Timeout;
  state: 'starting' | 'ready' | 'ended' = 'starting';
  idleSince = 0;
  /** In the order in which they were sent. */
  readonly #held = new Map<number, HeldAttempt>();
  #lastNo = 0;
  #begunCount = 0;
  /** How many of them want nothing behind them: those that are to be alone, and those that were asked back. */
  #closedBy = 0;
  /** How many attempts it may be sent before it can begin them. */
  #mostAhead = 0;
  /** It has got all that it may be sent ahead. It gets more when half of that has ended: many in one write instead of one in each of many. */
  #isFull = false;
  #startError: string | null = null;
  readonly #memoryBytes: number;
  #endWatch: (() => void) | null = null;
  /** Taken when an attempt begins. */
  #oomKills: number | null = null;
  #isKilled = false;
  #isMistrusted = false;
  /** The attempt that has ended the process, and its result; without it, whichever was running. */
  #culprit: HeldAttempt | null = null;
  /** What all of those fail with that may have ended it. */
  #verdict: Result | null = null;

  constructor({ key, bundle, folder, memoryBytes, concurrency }: ChildPlace, home: ChildHome, listener: ChildListener) {
    this.key = key;
    this.concurrency = concurrency;
    this.#memoryBytes = memoryBytes;
    this.#home = home;
    this.#listener = listener;
    // Its end is no beginning of it: else it would be waited for whether another one follows.
    const endMark = `\0signalbox-end-${randomBytes(16).toString('hex')}\n`;
    const options = bundle.hasSourceMap ? ['--enable-source-maps'] : [];
    if (memoryBytes > 0) options.push(`--max-old-space-size=${Math.max(16, Math.floor(memoryBytes / MIB))}`);
    this.#process = spawn(process.execPath, [...options, PROGRAM], {
      cwd: folder,
      // In a group of its own, so that all of it can be ended at once.
      detached: true,
      env: { ...home.environment, ...home.reaper.variables, [ATTEMPT_MARK]: this.#mark },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, orders, words] = this.#process.stdio as [null, Readable, Readable, Writable, Readable];
    this.#printed = new Printed(stdout, stderr, Buffer.from(endMark), home.relief);
    if (concurrency > 1) this.#printed.begin(new SharedPrints(() => this.#printing()));
    this.#orders = new OrderWriter(orders);
    const reader = new FrameReader((kind, no, content) => this.#hear(kind, no, content), MAX_WORD_BYTES);
    words.on('error', () => {});
    words.on('data', (bytes: Buffer) => {
      if (this.#isMistrusted) return;
      if (reader.push(bytes)) this.#tellRoom();
      else this.#mistrust(null);
    });
    this.#wordsClosed = new Promise((resolve) => words.once('close', () => resolve()));
    this.#process.once('error', (error) => {
      this.#startError ??= `The child process could not be started: ${error.message}.`;
      if (this.#process.pid === undefined) void this.#ended(null, null);
    });
    const spawnedAt = performance.now();
    this.#process.once('exit', (code, signal) => {
      // What it used is told attempt by attempt; it must not be taken for that of another process.
      void home.cpu.exited(performance.now() - spawnedAt);
      void this.#ended(code, signal);
    });
    const { pid } = this.#process;
    if (pid !== undefined) home.reaper.began(pid);
    if (pid !== undefined && memoryBytes > 0) {
      const onOver = (bytes: number): void => this.#tooLarge(bytes);
      this.#endWatch = home.memory.watch({ group: pid, limitBytes: memoryBytes, onOver }).end;
    }
    this.#startTimer = setTimeout(() => {
      this.#startError = `The bundle was not loaded within ${START_MS / 1000} s.`;
      this.kill();
    }, START_MS);
    this.#orders.send(INIT, 0, JSON.stringify({ bundlePath: bundle.path, endMark, concurrency } satisfies Init));
  }

  // ---- room

  get isIdle(): boolean {
    return this.state === 'ready' && this.#held.size === 0 && !this.#isKilled;
  }

  /** How many more attempts would begin at once. */
  get roomNow(): number {
    return this.#isOpen ? Math.max(0, this.concurrency - this.#held.size) : 0;
  }

  /** How many more attempts it may be sent, to begin as others end. */
  get roomAhead(): number {
    return this.#isOpen && !this.#isFull && this.#held.size >= this.concurrency
      ? Math.max(0, this.concurrency + this.#mostAhead - this.#held.size)
      : 0;
  }

  /** None of its attempts has run for as long as this, and others may follow them. */
  isBrisk(now: number, longMs: number): boolean {
    if (!this.#isOpen) return false;
    // Those that have begun are ahead of all others: it is asked for each attempt that is sent, and there may be 256 behind.
    for (const { state, begunAt } of this.#held.values()) {
      if (state === 'ahead') return true;
      if (state === 'begun' && now - begunAt >= longMs) return false;
    }
    return true;
  }

  get #isOpen(): boolean {
    return this.state === 'ready' && !this.#isKilled && this.#closedBy === 0;
  }

  #tellRoom(): void {
    if (this.state === 'ready' && !this.#isKilled) this.#listener.onRoom(this);
  }

  // ---- attempts

  run(job: Job, listener: HeldListener, isAlone: boolean): HeldAttempt {
    const held = new HeldAttempt(++this.#lastNo, job, listener, isAlone);
    this.#held.set(held.no, held);
    if (this.#held.size >= this.concurrency + this.#mostAhead) this.#isFull = true;
    if (isAlone) this.#closedBy++;
    if (job.assignment.softTimeoutMs > 0) job.attempt.onSlow = () => this.#order(SLOW, held.no, '');
    this.#order(RUN, held.no, orderText(orderOf(job)));
    this.#beginNext();
    return held;
  }

  stop(held: HeldAttempt, reason: StopReason): void {
    if (held.state === 'begun') {
      this.#order(STOP, held.no, JSON.stringify({ reason, message: sentenceOf(reason) }));
    } else if (reason !== 'lost') this.takeBack(held); // One that may be lost may still run, and is told when it begins.
  }

  /** It is not to begin any more. Its listener hears of it once that is certain, if it has not begun. */
  takeBack(held: HeldAttempt): void {
    if (held.state !== 'ahead' || held.isAskedBack) return;
    held.isAskedBack = true;
    this.#closedBy++;
    this.#orders.send(TAKE_BACK, held.no, '', () => {
      held.askedBackAt = performance.now();
    });
  }

  /** Ends this attempt by force; with it goes the process, and whatever else runs in it. */
  killFor(held: HeldAttempt): void {
    if (held.state === 'ahead') return this.takeBack(held);
    const isOnlyOne = this.#begun().length <= 1;
    const isOverdue = held.job.attempt.stop?.outcome === 'timeout' || held.job.attempt.stop?.outcome === 'stuck';
    // A process that does not even read is in the hands of one of them, and perhaps not of the one whose time is over.
    if (isOnlyOne || held.hasHeardStop || !isOverdue) this.#culprit ??= held;
    this.kill();
  }

  /** Whole, with all that it has started in its group; the others are swept when it has ended. */
  kill(): void {
    this.#isKilled = true;
    const { pid } = this.#process;
    if (this.state !== 'ended' && pid !== undefined && !signalGroup(pid, 'SIGKILL')) this.#process.kill('SIGKILL');
  }

  /** Nothing runs in it: it ends by itself when its orders do, and by force when user code has kept it busy. */
  retire(): void {
    this.#startError ??= 'The child was ended.';
    this.kill();
  }

  /** Called now and then: attempts that were sent ahead do not wait for one that turns out to be long. */
  look(now: number, busyMs: number): void {
    let isBusy = false;
    for (const held of this.#held.values()) {
      if (held.state === 'begun' && now - held.begunAt >= busyMs) isBusy = true;
      else if (held.state === 'ahead' && isBusy) this.takeBack(held);
      if (held.askedBackAt !== null && now - held.askedBackAt >= TAKEN_FOR_GRANTED_MS) this.#takeForGranted(held);
    }
  }

  /** Once everything is read that the child had said by now. */
  #takeForGranted(held: HeldAttempt): void {
    setImmediate(() =>
      setImmediate(() => {
        if (held.state === 'ahead' && this.state === 'ready') this.#takenBack(held);
      }),
    );
  }

  #takenBack(held: HeldAttempt): void {
    this.#remove(held);
    held.listener.takenBack();
    this.#beginNext();
  }

  #begun(): HeldAttempt[] {
    return [...this.#held.values()].filter(({ state }) => state === 'begun');
  }

  /** What comes on the bare streams may be theirs. */
  #printing(): HeldAttempt[] {
    return [...this.#held.values()].filter(({ state }) => state === 'begun' || state === 'ending');
  }

  /** Follows what the child does by itself. */
  #beginNext(): void {
    if (this.state !== 'ready' || this.#begunCount >= this.concurrency) return;
    const now = performance.now();
    for (const held of this.#held.values()) {
      // Where one attempt runs at a time, the next one waits until what this one printed has come.
      if (held.state === 'ending' && this.concurrency === 1) return;
      if (held.state !== 'ahead') continue;
      this.#begunCount++;
      this.#oomKills = recentOomKills(now);
      if (this.concurrency === 1) this.#printed.begin(held.job.log);
      held.begin(now);
      const { stopReason } = held.job.attempt;
      if (stopReason !== null) this.stop(held, stopReason);
      if (this.#begunCount >= this.concurrency) return;
    }
  }

  #remove(held: HeldAttempt): void {
    if (held.state === 'begun') this.#begunCount--;
    held.state = 'over';
    this.#closedBy -= Number(held.isAlone) + Number(held.isAskedBack);
    this.#held.delete(held.no);
    if (this.#held.size <= this.concurrency + this.#mostAhead / 2) this.#isFull = false;
    if (this.#held.size === 0) this.idleSince = performance.now();
  }

  #order(kind: number, no: number, text: string): void {
    this.#orders.send(kind, no, text);
  }

  // ---- what it says

  #hear(kind: number, no: number, content: Buffer): void {
    // What comes behind a word that it must not say is not listened to.
    if (this.#isMistrusted) return;
    if (no > 0) return this.#hearAttempt(kind, no, content);
    const isStarting = this.state === 'starting';
    if (kind === BROKEN && isStarting) {
      this.#startError = `The bundle could not be loaded: ${content.toString().slice(0, MAX_ERROR_CHARS)}`;
    } else if (kind === READY && isStarting) {
      clearTimeout(this.#startTimer);
      this.#printed.end(content.toString() === PRINTED, () => this.#becomeReady());
    } else this.#mistrust(null);
  }

  #becomeReady(): void {
    if (this.state !== 'starting' || this.#isKilled) return;
    this.state = 'ready';
    this.idleSince = performance.now();
    this.#tellRoom();
  }

  #hearAttempt(kind: number, no: number, content: Buffer): void {
    const held = this.#held.get(no);
    if (held === undefined) {
      // An attempt that has ended may have left something behind that still speaks.
      if (no > this.#lastNo || kind === END) this.#mistrust(null);
      return;
    }
    if (kind === TAKEN_BACK) {
      if (!held.isAskedBack) this.#mistrust(null);
      else if (held.state !== 'ending') this.#takenBack(held);
      return;
    }
    if (held.state === 'ahead') return this.#mistrust(null);
    if (held.state === 'ending') return;
    if (kind === END) {
      const end = readAttemptEnd(content.toString());
      if (end === null) this.#mistrust(held);
      else this.#attemptEnded(held, end);
    } else if (kind === LOG) held.job.log.line('log', content.toString());
    else if (kind === PRINT)
      held.job.log.bytes(content[0] === 2 ? 'stderr' : 'stdout', Buffer.from(content.subarray(1)));
    else if (kind === HEARD_STOP) held.hasHeardStop = true;
    else if (kind === EXITING) this.#culprit ??= held;
    else if (kind === PROGRESS || kind === REQUEST) this.#hearRequest(held, kind, content.toString());
    else this.#mistrust(held);
  }

  #tooLarge(bytes: number): void {
    const error = overMemory('The process of the function', bytes, this.#memoryBytes);
    for (const { job } of this.#begun()) job.log.line('system', error);
    this.#verdict = { ...failure('resource', error, 'memory'), used: { cpuMicros: 0, peakBytes: bytes } };
    this.#startError ??= error;
    this.kill();
  }

  #hearRequest(held: HeldAttempt, kind: number, text: string): void {
    const requests = held.requests((answer) => {
      if (held.state === 'begun') this.#order(ANSWER, held.no, JSON.stringify(answer));
    });
    if (!(kind === PROGRESS ? requests.progress(text) : requests.ask(text))) this.#mistrust(held);
  }

  /** It says what no child does: user code has written to the channel, and nothing that comes from it is worth anything. */
  #mistrust(held: HeldAttempt | null): void {
    this.#isMistrusted = true;
    this.#culprit ??= held;
    this.#verdict = failure('transient', MISTRUSTED);
    this.#startError ??= MISTRUSTED;
    this.kill();
  }

  #attemptEnded(held: HeldAttempt, { hasPrinted, isLeaving, ...result }: AttemptEnd): void {
    const ms = performance.now() - held.begunAt;
    this.#mostAhead = ms < SHORT_MS && !hasPrinted ? Math.min(MOST_AHEAD, 2 * this.#mostAhead + 2) : 0;
    this.#listener.onAttempt(this, ms);
    held.result = result;
    held.state = 'ending';
    this.#begunCount--;
    if (isLeaving) this.#culprit ??= held;
    if (!hasPrinted) this.#settle(held, isLeaving);
    else {
      // What it prints may be kept up by others that hold its streams: then it can't be used again.
      const timer = setTimeout(() => this.kill(), DRAIN_MS);
      this.#printed.end(true, () => {
        clearTimeout(timer);
        if (held.state !== 'ending') return;
        if (this.concurrency === 1) {
          this.#printed.begin(null);
          this.#order(GO_ON, 0, '');
        }
        this.#settle(held, isLeaving);
        this.#tellRoom();
      });
    }
    if (!isLeaving) this.#beginNext();
  }

  #settle(held: HeldAttempt, isLeaving: boolean): void {
    this.#remove(held);
    if (this.#held.size === 0 && this.concurrency === 1) this.#printed.begin(null);
    if (isLeaving) this.kill();
    held.listener.end(held.result as Result);
    if (!isLeaving) this.#beginNext();
  }

  // ---- its end

  async #ended(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    if (this.state === 'ended') return;
    const wasStarting = this.state === 'starting';
    this.state = 'ended';
    clearTimeout(this.#startTimer);
    this.#orders.close();
    const { pid } = this.#process;
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
    await sweep(ATTEMPT_MARK, this.#mark);
    await Promise.all([this.#printed.drain(DRAIN_MS), within(DRAIN_MS, this.#wordsClosed)]);
    if (pid !== undefined) this.#home.reaper.ended(pid);
    this.#endWatch?.();
    const cause = causeOfEnd({
      code,
      signal,
      isKilled: this.#isKilled,
      ranOut: ranOutSince(this.#oomKills),
      stderr: this.#printed.errorTail,
    });
    this.#endAttempts(this.#verdict ?? cause);
    this.#listener.onEnded(this, wasStarting ? (this.#startError ?? cause.error) : null);
  }

  /** Whoever has ended the process fails with it. The others go back, and whoever has not begun goes to another child. */
  #endAttempts(cause: Result): void {
    const begun = this.#begun();
    const culprit = this.#culprit ?? (begun.length === 1 ? (begun[0] as HeldAttempt) : null);
    for (const held of [...this.#held.values()]) {
      const { state, listener, result } = held;
      this.#remove(held);
      if (state === 'ahead') listener.takenBack();
      else if (result !== null) listener.end(result);
      else if (held === culprit) listener.end(cause);
      else listener.end({ returned: NEIGHBOUR, hasBegun: true, isSuspect: culprit === null });
    }
  }
}

async function within(ms: number, awaited: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([awaited, late]);
  clearTimeout(timer);
}

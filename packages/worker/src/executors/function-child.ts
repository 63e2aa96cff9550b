/**
 * One warm child process with one bundle.
 *
 * `starting` (loads its bundle) → `idle` ⇄ `busy` (one attempt at a time) → `ended`. A child that has broken in any way is
 * ended and never used again: another takes its place.
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
  FrameReader,
  frame,
  INIT,
  LOG,
  MAX_WORD_BYTES,
  PRINTED,
  PROGRESS,
  READY,
  REQUEST,
  RUN,
  type RunOrder,
  SLOW,
  STOP,
} from '../child/frames.ts';
import { failure, type Result } from '../result.ts';
import { readAttemptEnd } from './attempt-end.ts';
import { causeOfEnd } from './cause-of-end.ts';
import type { ChildHome } from './child-home.ts';
import { ChildRequests } from './child-requests.ts';
import { oomKills, overMemory, ranOutSince } from './out-of-memory.ts';
import type { Job } from './port.ts';
import { Printed } from './printed.ts';
import { ATTEMPT_MARK, signalGroup, sweep } from './sweep.ts';

/** From `src` as from `dist`: a child is always built code. */
const PROGRAM = fileURLToPath(new URL('../../dist/child/child-main.js', import.meta.url));
/** A bundle that takes longer to load hangs. */
const START_MS = 30_000;
/** How long to wait for the last output, when the child still runs or has just ended. */
const DRAIN_MS = 1_000;
const MIB = 1024 * 1024;
const MISTRUSTED =
  'The function wrote to the channel between its process and the worker (descriptor 4): its process was killed.';

export interface ChildPlace {
  readonly key: string;
  readonly bundle: BundleFile;
  readonly folder: string;
  /** What it may have of memory; 0 for as much as there is. */
  readonly memoryBytes: number;
}

export interface ChildListener {
  /** It can take an attempt. */
  onIdle(child: FunctionChild): void;
  /** It has ended. `error` says why, when it had not even started. */
  onEnded(child: FunctionChild, error: string | null): void;
}

export class FunctionChild {
  readonly key: string;
  readonly #process: ChildProcess;
  readonly #home: ChildHome;
  readonly #listener: ChildListener;
  readonly #printed: Printed;
  readonly #mark = randomBytes(16).toString('hex');
  readonly #startTimer: NodeJS.Timeout;
  state: 'starting' | 'idle' | 'busy' | 'ended' = 'starting';
  idleSince = 0;
  #busyWith: { readonly job: Job; readonly end: (result: Result) => void; requests: ChildRequests | null } | null =
    null;
  /** Counts its attempts, as the child does. */
  #attemptCount = 0;
  /** The result of its attempt, while its last output is awaited. */
  #result: Result | null = null;
  #startError: string | null = null;
  readonly #memoryBytes: number;
  #endWatch: (() => void) | null = null;
  /** Taken when an attempt begins. */
  #oomKills: number | null = null;
  #isKilled = false;
  #isMistrusted = false;

  constructor({ key, bundle, folder, memoryBytes }: ChildPlace, home: ChildHome, listener: ChildListener) {
    this.key = key;
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
    const reader = new FrameReader((kind, text) => this.#hear(kind, text), MAX_WORD_BYTES);
    orders.on('error', () => {});
    words.on('error', () => {});
    words.on('data', (bytes: Buffer) => {
      if (!this.#isMistrusted && !reader.push(bytes)) this.#mistrust();
    });
    this.#process.once('error', (error) => {
      this.#startError ??= `The child process could not be started: ${error.message}.`;
      if (this.#process.pid === undefined) void this.#ended(null, null);
    });
    this.#process.once('exit', (code, signal) => void this.#ended(code, signal));
    const { pid } = this.#process;
    if (pid !== undefined) home.reaper.began(pid);
    if (pid !== undefined && memoryBytes > 0) {
      const onOver = (bytes: number): void => this.#tooLarge(bytes);
      this.#endWatch = home.memory.watch({ group: pid, limitBytes: memoryBytes, onOver });
    }
    this.#startTimer = setTimeout(() => {
      this.#startError = `The bundle was not loaded within ${START_MS / 1000} s.`;
      this.kill();
    }, START_MS);
    orders.write(frame(INIT, JSON.stringify({ bundlePath: bundle.path, endMark })));
  }

  run(job: Job, end: (result: Result) => void): void {
    this.state = 'busy';
    this.#busyWith = { job, end, requests: null };
    this.#attemptCount += 1;
    this.#oomKills = oomKills();
    job.attempt.onSlow = () => this.#order(SLOW, '');
    this.#printed.begin(job.log);
    this.#order(RUN, JSON.stringify(orderOf(job)));
  }

  stop(reason: StopReason): void {
    this.#order(STOP, JSON.stringify({ reason, message: sentenceOf(reason) }));
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

  #order(kind: number, text: string): void {
    (this.#process.stdio[3] as Writable).write(frame(kind, text));
  }

  #hear(kind: number, text: string): void {
    // What comes behind a word that it must not say is not listened to.
    if (this.#isMistrusted) return;
    const isStarting = this.state === 'starting';
    if (kind === LOG) this.#busyWith?.job.log.line('log', text);
    else if (kind === PROGRESS || kind === REQUEST) this.#hearRequest(kind, text);
    else if (kind === END) {
      const end = readAttemptEnd(text);
      if (end === null) this.#mistrust();
      else this.#attemptEnded(end);
    } else if (kind === BROKEN && isStarting) {
      this.#startError = `The bundle could not be loaded: ${text.slice(0, MAX_ERROR_CHARS)}`;
    } else if (kind === READY && isStarting) {
      clearTimeout(this.#startTimer);
      this.#printed.end(text === PRINTED, () => this.#becomeIdle());
    } else this.#mistrust();
  }

  #tooLarge(bytes: number): void {
    const error = overMemory('The process of the function', bytes, this.#memoryBytes);
    this.#busyWith?.job.log.line('system', error);
    this.#result = failure('resource', error, 'memory');
    this.#startError ??= error;
    this.kill();
  }

  #hearRequest(kind: number, text: string): void {
    // An attempt that has ended may have left a timer behind that tells of its progress.
    const busy = this.#busyWith;
    if (busy === null || this.#result !== null) return;
    const no = this.#attemptCount;
    busy.requests ??= new ChildRequests(busy.job.context.requester, (answer) => {
      if (this.#busyWith === busy) this.#order(ANSWER, JSON.stringify({ ...answer, attempt: no }));
    });
    if (!(kind === PROGRESS ? busy.requests.progress(text) : busy.requests.ask(text))) this.#mistrust();
  }

  /** It says what no child does: user code has written to the channel, and nothing that comes from it is worth anything. */
  #mistrust(): void {
    this.#isMistrusted = true;
    this.#result = failure('transient', MISTRUSTED);
    this.#startError ??= MISTRUSTED;
    this.kill();
  }

  #attemptEnded({ hasPrinted, isLeaving, ...result }: AttemptEnd): void {
    const busy = this.#busyWith;
    if (busy === null) return;
    // What it prints may be kept up by others that hold its streams: then it can't be used again.
    this.#result = result;
    const timer = hasPrinted ? setTimeout(() => this.kill(), DRAIN_MS) : null;
    this.#printed.end(hasPrinted, () => {
      if (timer !== null) clearTimeout(timer);
      if (this.#busyWith !== busy) return;
      this.#busyWith = null;
      this.#result = null;
      if (isLeaving) this.kill();
      busy.end(result);
      if (!isLeaving) this.#becomeIdle();
    });
  }

  #becomeIdle(): void {
    if (this.state === 'ended' || this.#isKilled) return;
    this.state = 'idle';
    this.idleSince = performance.now();
    this.#listener.onIdle(this);
  }

  async #ended(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    if (this.state === 'ended') return;
    const wasStarting = this.state === 'starting';
    this.state = 'ended';
    clearTimeout(this.#startTimer);
    const { pid } = this.#process;
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
    await sweep(ATTEMPT_MARK, this.#mark);
    await this.#printed.drain(DRAIN_MS);
    if (pid !== undefined) this.#home.reaper.ended(pid);
    this.#endWatch?.();
    const cause = causeOfEnd({
      code,
      signal,
      isKilled: this.#isKilled,
      ranOut: ranOutSince(this.#oomKills),
      stderr: this.#printed.errorTail,
    });
    const busy = this.#busyWith;
    this.#busyWith = null;
    busy?.end(this.#result ?? cause);
    this.#listener.onEnded(this, wasStarting ? (this.#startError ?? cause.error) : null);
  }
}

function orderOf({ assignment, work, context }: Job): RunOrder {
  return {
    functionName: assignment.handler,
    tenant: assignment.tenant,
    dag: assignment.dag,
    run: assignment.run,
    task: assignment.taskName,
    attempt: assignment.claim.attempt,
    fence: assignment.claim.fence,
    effectKey: assignment.effectKey,
    token: context.token,
    runInfo: assignment.runInfo,
    params: assignment.params,
    upstream: assignment.upstream,
    unfetched: assignment.references.map(({ taskName }) => taskName),
    failedUpstream: assignment.failedUpstream,
    map: assignment.map,
    inputs: context.inputs,
    secrets: [...work.secrets],
    checkpoint: assignment.checkpoint,
  };
}

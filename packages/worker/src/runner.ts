/**
 * Starts and stops attempts, and turns their results into reports. A handler in this process can be asked to stop, but not
 * forced: if it does not finish within its grace period, it is reported as it is, and its later result is dropped.
 * Everything else is killed and reported when it has ended.
 */
import type { Assignment, KillReason, Report, ReportedOutcome } from '@signalbox/protocol/grpc';
import type { AttemptRequester } from '@signalbox/sdk/attempt-requests';
import { type Attempt, sentenceOf, stopped } from './attempt.ts';
import { AttemptContext } from './attempt-context.ts';
import type { PendingRequests } from './attempt-requests.ts';
import { callHandler } from './executors/call-handler.ts';
import type { Executors } from './executors/executors.ts';
import type { Ended, Job, JobListener, Returned } from './executors/port.ts';
import type { Holds } from './holds.ts';
import type { AttemptLog } from './logs/attempt-log.ts';
import { LazyLog } from './logs/lazy-log.ts';
import type { LogBook } from './logs/log-book.ts';
import type { WorkerConfig } from './options.ts';
import type { Outputs } from './outputs/outputs.ts';
import { wantedOf } from './outputs/wanted.ts';
import { cutError, failure, isLargeOutput, type Result, resultAfterLapse, resultOfFault } from './result.ts';
import type { Slots } from './slots.ts';
import { isPooled, readWork, type Work } from './work.ts';

/** The same codes as on the server: either of the two can notice first. */
/** Of the server, or of the worker itself, which is taken away. */
export type RunnerStop = KillReason | 'evicted';

const CODE_OF: Partial<Record<RunnerStop, string>> = {
  timeout: 'timeout:attempt',
  stuck: 'stuck:progress',
  preempted: 'preempted',
  evicted: 'evicted',
};

function outcomeOf(reason: RunnerStop): ReportedOutcome {
  if (reason === 'timeout' || reason === 'stuck') return reason;
  // Its task goes back to ready, at no cost.
  return reason === 'preempted' || reason === 'evicted' ? 'lost' : 'cancelled';
}

const UNKNOWN_HANDLERS_SHOWN = 20;

interface RunnerParts {
  readonly config: WorkerConfig;
  readonly holds: Holds;
  readonly requests: PendingRequests;
  readonly executors: Executors;
  readonly book: LogBook;
  readonly outputs: Outputs;
  readonly slots: Slots;
  readonly onReported: (attempt: Attempt) => void;
  /** The server gets it back, at no cost to its retries. */
  readonly onReturned: (attempt: Attempt, reason: string) => void;
}

/** What the runner does for one of its jobs. */
interface JobKeeper {
  readonly book: LogBook;
  context(attempt: Attempt, work: Work): AttemptContext;
  began(attempt: Attempt): void;
  end(attempt: Attempt, ended: Ended): void;
}

/** A job and its listener. Context and log are made when they are asked for: a short function asks for neither. */
class RunnerJob implements Job, JobListener {
  readonly attempt: Attempt;
  readonly work: Work;
  readonly hasSlot: boolean;
  readonly #keeper: JobKeeper;
  #context: AttemptContext | null = null;
  #log: LazyLog | null = null;

  constructor(keeper: JobKeeper, attempt: Attempt, work: Work) {
    this.#keeper = keeper;
    this.attempt = attempt;
    this.work = work;
    this.hasSlot = attempt.holdsSlot;
  }

  get assignment(): Assignment {
    return this.attempt.assignment;
  }

  get context(): AttemptContext {
    this.#context ??= this.#keeper.context(this.attempt, this.work);
    return this.#context;
  }

  get log(): LazyLog {
    this.#log ??= new LazyLog(this.#keeper.book, this.attempt);
    return this.#log;
  }

  began(): void {
    this.#keeper.began(this.attempt);
  }

  end(ended: Ended): void {
    this.#keeper.end(this.attempt, ended);
  }
}

export class Runner {
  readonly #config: WorkerConfig;
  readonly #parts: RunnerParts;
  readonly #jobs: JobKeeper;
  #arrived: Attempt[] = [];
  /** Those that have no slot yet, in the order in which they came. Functions in children wait with their executor. */
  #gated: Attempt[] = [];
  #isPumping = false;
  /** What the most impatient of those may wait that have not begun; as of the last look. */
  mostWaitMs: number;

  constructor(parts: RunnerParts) {
    this.#config = parts.config;
    this.mostWaitMs = parts.config.timing.waitMs;
    this.#parts = parts;
    this.#jobs = {
      book: parts.book,
      context: (attempt, work) => this.#contextOf(attempt, work, this.#config.log),
      began: (attempt) => this.#began(attempt),
      end: (attempt, ended) => this.#takeEnd(attempt, ended),
    };
  }

  /** Whether something waits for a slot that is no function. */
  get hasGated(): boolean {
    return this.#gated.length > 0;
  }

  add(attempt: Attempt): void {
    this.#arrived.push(attempt);
  }

  /** Begins what has arrived, in order. A handler may be busy before its first await, so this goes on in slices. */
  startWaiting(): void {
    const { now, startBudgetMs } = this.#config.timing;
    const until = now() + startBudgetMs;
    const arrived = this.#arrived;
    for (let i = 0; i < arrived.length; i++) {
      const attempt = arrived[i] as Attempt;
      if (attempt.state === 'waiting') this.#admit(attempt);
      if (now() >= until && i + 1 < arrived.length) {
        this.#arrived = arrived.slice(i + 1);
        setImmediate(() => this.startWaiting());
        return;
      }
    }
    this.#arrived = [];
  }

  #admit(attempt: Attempt): void {
    const { work, references } = attempt.assignment;
    // Large inputs are fetched first, and only for what has a slot: they take memory.
    if (references.length === 0 && isPooled(work, this.#config.secrets.isShared)) this.#startAttempt(attempt);
    else if (this.#gated.length === 0 && this.#parts.slots.take()) this.#startWithSlot(attempt);
    else this.#gated.push(attempt);
  }

  #startWithSlot(attempt: Attempt): void {
    attempt.holdsSlot = true;
    this.#began(attempt);
    this.#startAttempt(attempt);
  }

  #began(attempt: Attempt): void {
    const { timing } = this.#config;
    attempt.startedAt = timing.wallNow();
    attempt.began(timing.now());
  }

  /** A slot may be free. Whatever came first gets it. */
  slotFreed(): void {
    if (this.#isPumping || (this.#gated.length === 0 && !this.#parts.executors.hasWaiting)) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { executors, slots } = this.#parts;
    for (let first = this.#gated[0]; first !== undefined; first = this.#gated[0]) {
      if (first.state === 'waiting') {
        const functionAt = executors.oldestWaitingAt;
        if (functionAt !== null && functionAt < first.arrivedAt) executors.giveSlots();
        if (!slots.take()) break;
        this.#gated.shift();
        this.#startWithSlot(first);
      } else this.#gated.shift();
    }
    executors.giveSlots();
  }

  #release(attempt: Attempt): void {
    if (!attempt.holdsSlot) return;
    attempt.holdsSlot = false;
    this.#parts.slots.release();
    this.slotFreed();
  }

  #startAttempt(attempt: Attempt): void {
    const { work: text } = attempt.assignment;
    attempt.state = 'running';
    let work: Work | null = null;
    try {
      if (text !== '') work = readWork(text, this.#config.secrets, attempt.assignment.tenant);
    } catch (error) {
      return this.#settle(attempt, resultOfFault(error));
    }
    if (work !== null && work.secrets.size > 0) attempt.secretValues = [...work.secrets.values()];
    if (attempt.assignment.references.length > 0) this.#fetchAndStart(attempt, work);
    else this.#startWork(attempt, work);
  }

  /** What its inputs name and is large has to come first; that takes from the attempt's own time. */
  #fetchAndStart(attempt: Attempt, work: Work | null): void {
    const { assignment } = attempt;
    const wanted = wantedOf(assignment.references, work);
    const controller = new AbortController();
    const stop = () => controller.abort();
    attempt.execution = { stop, kill: () => (stop(), true) };
    this.#parts.outputs.fetch(assignment, wanted, controller.signal).then(
      (fetched) => {
        attempt.execution = null;
        if (!attempt.isActive || attempt.isEnding) return;
        if (attempt.stop !== null) return this.#settle(attempt, failure(attempt.stop.outcome, ''));
        const references = assignment.references.filter((reference) => !wanted.includes(reference));
        attempt.assignment = { ...assignment, upstream: [...assignment.upstream, ...fetched], references };
        this.#startWork(attempt, work);
      },
      (error: unknown) => this.#settle(attempt, resultOfFault(error)),
    );
  }

  #startWork(attempt: Attempt, work: Work | null): void {
    if (work === null || work.shape.kind === 'handler') this.#startHandler(attempt, work);
    else this.#startOther(attempt, work, work.shape.kind);
  }

  #startHandler(attempt: Attempt, work: Work | null): void {
    const { handlers, allow, name: worker, log } = this.#config;
    const { handler: name } = attempt.assignment;
    if (!allow.has('handler')) return this.#refuseKind(attempt, 'handler');
    const handler = handlers.get(name);
    if (handler === undefined) {
      const known = [...handlers.keys()].slice(0, UNKNOWN_HANDLERS_SHOWN).join(', ');
      const text = `Worker ${worker} has no handler "${name}"; it has: ${known === '' ? 'none' : known}.`;
      return this.#settle(attempt, failure('permanent', text));
    }
    const context = this.#contextOf(attempt, work, log);
    if (work !== null && !this.#findInputs(attempt, context)) return;
    callHandler(handler, context, (result) => this.#settle(attempt, result));
  }

  #startOther(attempt: Attempt, work: Work, kind: Exclude<Work['shape']['kind'], 'handler'>): void {
    if (!this.#config.allow.has(kind)) return this.#refuseKind(attempt, kind);
    const job = new RunnerJob(this.#jobs, attempt, work);
    if (work.shape.inputs !== undefined && !this.#findInputs(attempt, job.context)) return;
    const execution = this.#parts.executors.start(kind, job, job);
    // It may be over already.
    if (attempt.isActive) attempt.execution = execution;
  }

  #contextOf(attempt: Attempt, work: Work | null, log: WorkerConfig['log']): AttemptContext {
    const { book } = this.#parts;
    return new AttemptContext({ attempt, log, book, work, requester: () => this.#requesterOf(attempt) });
  }

  #requesterOf(attempt: Attempt): AttemptRequester {
    const { requests } = this.#parts;
    const { now } = this.#config.timing;
    return {
      progress: (fraction, note) => {
        const masked = note === '' ? note : attempt.mask.text(note);
        attempt.progress = { fraction, note: masked, at: now() };
      },
      extend: async (ms) => {
        const { leftMs } = await requests.ask(attempt, { kind: 'extend', ms });
        // The server's clock decides; this one only must not be quicker.
        attempt.deadlineAt = Math.max(attempt.deadlineAt, now() + leftMs);
        return leftMs;
      },
      saveCheckpoint: async (value) => {
        await requests.ask(attempt, { kind: 'checkpoint', value });
      },
      assertOwned: async () => {
        if (attempt.stopReason !== null) throw stopped(attempt.stopReason);
        await requests.ask(attempt, { kind: 'assert' });
      },
      addTasks: async (tasks) => {
        if (attempt.stopReason !== null) throw stopped(attempt.stopReason);
        await requests.ask(attempt, { kind: 'add', tasks });
      },
    };
  }

  /** No server was heard for the time of the lease: another attempt may have begun. */
  lapse(attempt: Attempt): void {
    if (attempt.stopReason !== null) return;
    attempt.abort('lost');
    this.#parts.requests.stopped(attempt, stopped('lost'));
  }

  /** An input that is not there fails the task whether or not anything looks at it. */
  #findInputs(attempt: Attempt, context: AttemptContext): boolean {
    try {
      void context.inputs;
      return true;
    } catch (error) {
      this.#settle(attempt, resultOfFault(error));
      return false;
    }
  }

  #refuseKind(attempt: Attempt, kind: string): void {
    const { allow, name } = this.#config;
    const text = `Worker ${name} may not run ${kind} tasks; it was started with --allow ${[...allow].join(',')}. Give the task a queue whose workers may.`;
    this.#settle(attempt, failure('permanent', text));
  }

  stop(attempt: Attempt, reason: RunnerStop, graceMs: number): void {
    if (attempt.isEnding) return;
    const endsBy = this.#config.timing.now() + graceMs;
    const outcome = outcomeOf(reason);
    // The first reason stays; a shorter grace counts.
    attempt.stop =
      attempt.stop === null
        ? { outcome, code: CODE_OF[reason] ?? '', error: sentenceOf(reason), endsBy }
        : { ...attempt.stop, endsBy: Math.min(attempt.stop.endsBy, endsBy) };
    attempt.abort(reason);
    this.#parts.requests.stopped(attempt, stopped(reason));
    // What has only heard that it may be lost goes on; this is the word to end.
    if (attempt.stopReason === 'lost') attempt.execution?.stop('cancelled');
    if (attempt.state === 'waiting') this.#settle(attempt, failure(outcome, ''));
    else if (graceMs === 0) this.#force(attempt, failure(outcome, ''));
  }

  /** Nothing of it is wanted any more, and nothing of it will be reported. */
  letGo(attempt: Attempt): void {
    const { execution } = attempt;
    this.#release(attempt);
    this.#parts.requests.ended(attempt);
    if (execution === null) return;
    if (attempt.stopReason === 'lost') execution.stop('stale');
    setTimeout(() => execution.kill(), this.#config.timing.timeoutGraceMs);
  }

  #takeEnd(attempt: Attempt, ended: Ended): void {
    if ('returned' in ended) this.#giveBack(attempt, ended);
    else this.#settle(attempt, ended);
  }

  /** It goes back to the server, unless it was to stop anyway: then that is what it comes to. */
  #giveBack(attempt: Attempt, { returned, hasBegun, isSuspect }: Returned): void {
    if (!attempt.isActive || attempt.isEnding) return;
    const { stop } = attempt;
    const isOverdue = stop?.outcome === 'timeout' || stop?.outcome === 'stuck';
    if (stop !== null && !(isSuspect && isOverdue)) return this.#settle(attempt, failure(stop.outcome, ''));
    const log = hasBegun ? this.#parts.book.of(attempt) : attempt.log;
    log?.line('system', `The attempt has no result: ${returned}. It runs again, which costs no retry.`);
    this.#release(attempt);
    this.#parts.requests.ended(attempt);
    attempt.isEnding = true;
    if (log === null) this.#parts.onReturned(attempt, returned);
    else void this.#parts.book.end(log).then(() => this.#parts.onReturned(attempt, returned));
  }

  /** Takes back what has not begun, if it has waited for too long and the worker has more than it has slots for. */
  giveBackOverdue(now: number): void {
    const { holds } = this.#parts;
    const { slots, timing } = this.#config;
    let surplus = holds.activeCount - slots;
    this.mostWaitMs = timing.waitMs;
    if (surplus <= 0) return;
    const overdue: Attempt[] = [];
    for (const attempt of holds.all()) {
      if (!attempt.isActive || attempt.hasBegun || attempt.isEnding || attempt.stop !== null) continue;
      const { timeoutMs } = attempt.assignment;
      // The server counts from the claim on: a short timeout must not pass while the attempt waits.
      const mostMs = timeoutMs === 0 ? timing.waitMs : Math.min(timing.waitMs, timeoutMs / 10);
      if (mostMs < this.mostWaitMs) this.mostWaitMs = mostMs;
      if (now - attempt.arrivedAt >= mostMs) overdue.push(attempt);
    }
    // The last to come would be the last to begin.
    for (const attempt of overdue.reverse()) {
      if (surplus-- <= 0) return;
      this.#withdraw(attempt);
    }
  }

  /** Nothing that has not begun begins any more: the worker leaves. */
  giveBackWaiting(): void {
    const { holds } = this.#parts;
    for (const attempt of [...holds.all()]) {
      if (attempt.isActive && !attempt.hasBegun && !attempt.isEnding && attempt.stop === null) this.#withdraw(attempt);
    }
  }

  #withdraw(attempt: Attempt): void {
    if (attempt.state === 'running') attempt.execution?.withdraw?.();
    else this.#giveBack(attempt, { returned: 'it waited for a slot', hasBegun: false, isSuspect: false });
  }

  /** The result of the attempt, or what stopped it. The first one counts; later ones are dropped. */
  #settle(attempt: Attempt, found: Result): void {
    if (!attempt.isActive || attempt.isEnding) return;
    this.#release(attempt);
    const result = attempt.stopReason === 'lost' ? resultAfterLapse(found) : found;
    this.#parts.requests.ended(attempt);
    const { stop, startedAt, assignment, log } = attempt;
    const endedAt = Math.max(startedAt, this.#config.timing.wallNow());
    const error = stop === null ? result.error : [stop.error, result.error].filter(Boolean).join('\n');
    const report: Report = {
      claim: assignment.claim,
      token: assignment.token,
      outcome: stop === null ? result.outcome : stop.outcome,
      output: stop === null ? result.output : '',
      // Masked whole, then cut: half a secret would not be found.
      error: cutError(error === '' ? error : attempt.mask.text(error)),
      startedAt: startedAt === 0 ? endedAt : startedAt,
      endedAt,
      code: stop === null ? (result.code ?? '') : stop.code,
      retryAfterMs: stop === null ? (result.retryAfterMs ?? 0) : 0,
      memoryBytes: stop === null ? (result.memoryBytes ?? 0) : 0,
      cpuMicros: result.used?.cpuMicros ?? 0,
      peakBytes: result.used?.peakBytes ?? 0,
    };
    const isLarge = isLargeOutput(report.output);
    if (log === null && !isLarge) return this.#report(attempt, report);
    attempt.isEnding = true;
    void this.#finish(attempt, report, log);
  }

  /** Lines and a large output are stored before the report says that it is over. */
  async #finish(attempt: Attempt, report: Report, log: AttemptLog | null): Promise<void> {
    if (log !== null) await this.#parts.book.end(log);
    if (!isLargeOutput(report.output) || !attempt.isActive) return this.#report(attempt, report);
    const ended = report;
    try {
      const output = await this.#parts.outputs.store(attempt.assignment, report.output, attempt.signal);
      this.#report(attempt, { ...ended, output });
    } catch (error) {
      this.#report(attempt, { ...ended, ...resultOfFault(error) });
    }
  }

  #report(attempt: Attempt, report: Report): void {
    // It may have been found stale while its log was on its way.
    if (!attempt.isActive) return;
    this.#parts.holds.markReported(attempt, report);
    this.#parts.onReported(attempt);
  }

  /** Looks at what time has done to one attempt that has not been reported. */
  watch(attempt: Attempt, now: number): void {
    if (attempt.isEnding) return;
    if (attempt.stop === null) {
      if (now >= attempt.slowAt) this.#tellSlow(attempt);
      const { timeoutGraceMs } = this.#config.timing;
      if (now >= attempt.deadlineAt) this.stop(attempt, 'timeout', timeoutGraceMs);
      else if (now >= attempt.stuckAt) this.stop(attempt, 'stuck', timeoutGraceMs);
    } else if (attempt.forcedAt !== null) {
      if (now - attempt.forcedAt < this.#config.timing.forceMs) return;
      this.#settleWithout(attempt, failure(attempt.stop.outcome, 'It was ended by force, and is still there.'));
    } else if (now >= attempt.stop.endsBy) {
      this.#force(attempt, failure(attempt.stop.outcome, 'The handler had not settled when its grace was over.'));
    }
  }

  /** Its soft timeout is over: a word, and nothing else. */
  #tellSlow(attempt: Attempt): void {
    attempt.slowAt = Number.POSITIVE_INFINITY;
    attempt.isSlow = true;
    const { softTimeoutMs } = attempt.assignment;
    const text = `The attempt has run for ${softTimeoutMs / 1000} s, which is longer than it usually should.`;
    this.#parts.book.of(attempt)?.line('system', text);
    attempt.onSlow?.();
  }

  /** Ends it, or, where that can't be done, goes on as if it had ended. */
  #force(attempt: Attempt, result: Result): void {
    if (attempt.execution?.kill() === true) {
      attempt.forcedAt ??= this.#config.timing.now();
      return;
    }
    this.#settleWithout(attempt, result);
  }

  #settleWithout(attempt: Attempt, result: Result): void {
    const { run, taskName } = attempt.assignment;
    this.#config.log.warn('an attempt has not settled in its grace; its slot is used again', { run, task: taskName });
    this.#settle(attempt, result);
  }
}

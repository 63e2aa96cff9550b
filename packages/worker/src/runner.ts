/**
 * Calls handlers, and makes reports of what they come to. A handler in this process can be asked to stop and not forced:
 * one that does not settle in its grace is reported without it, and what it comes to later is forgotten.
 */
import type { ReportedOutcome } from '@signalbox/protocol/grpc';
import { type Attempt, AttemptContext, sentenceOf } from './attempt.ts';
import type { Holds } from './holds.ts';
import type { WorkerConfig } from './options.ts';
import { failure, type Result, resultOfReturn, resultOfThrow } from './result.ts';
import { readWork } from './work.ts';

const UNKNOWN_HANDLERS_SHOWN = 20;

export class Runner {
  readonly #config: WorkerConfig;
  readonly #holds: Holds;
  readonly #onReported: (attempt: Attempt) => void;
  #waiting: Attempt[] = [];

  constructor(config: WorkerConfig, holds: Holds, onReported: (attempt: Attempt) => void) {
    this.#config = config;
    this.#holds = holds;
    this.#onReported = onReported;
  }

  add(attempt: Attempt): void {
    this.#waiting.push(attempt);
  }

  /** Begins what has arrived, in order. A handler may be busy before its first await, so this goes on in slices. */
  startWaiting(): void {
    const { now, startBudgetMs } = this.#config.timing;
    const until = now() + startBudgetMs;
    const waiting = this.#waiting;
    for (let i = 0; i < waiting.length; i++) {
      const attempt = waiting[i] as Attempt;
      if (attempt.state === 'waiting') this.#startAttempt(attempt);
      if (now() >= until && i + 1 < waiting.length) {
        this.#waiting = waiting.slice(i + 1);
        setImmediate(() => this.startWaiting());
        return;
      }
    }
    this.#waiting = [];
  }

  #startAttempt(attempt: Attempt): void {
    const { handlers, timing, log } = this.#config;
    const { handler: name, timeoutMs } = attempt.assignment;
    attempt.state = 'running';
    attempt.startedAt = timing.wallNow();
    if (timeoutMs > 0) attempt.deadlineAt = timing.now() + timeoutMs;
    const handler = handlers.get(name);
    if (handler === undefined) {
      const known = [...handlers.keys()].slice(0, UNKNOWN_HANDLERS_SHOWN).join(', ');
      this.#settle(
        attempt,
        failure('permanent', `Worker ${this.#config.name} has no handler "${name}"; it has: ${known}.`),
      );
      return;
    }
    try {
      const work = attempt.assignment.work === '' ? null : readWork(attempt.assignment.work, this.#config.secrets);
      const context = new AttemptContext(attempt, attempt.assignment, log, work);
      // An input that is not there fails the task whether or not the handler looks at it.
      if (work !== null) void context.inputs;
      const returned = handler(context);
      // A plain value settles here and now: a promise for each empty task would cost more than the task.
      if (!isThenable(returned)) return this.#settle(attempt, resultOfReturn(returned));
      returned.then(
        (value) => this.#settle(attempt, resultOfReturn(value)),
        (error: unknown) => this.#settle(attempt, resultOfThrow(error)),
      );
    } catch (error) {
      this.#settle(attempt, resultOfThrow(error));
    }
  }

  stop(attempt: Attempt, reason: 'cancelled' | 'timed_out' | 'lost', graceMs: number): void {
    const endsBy = this.#config.timing.now() + graceMs;
    const outcome: ReportedOutcome = reason === 'timed_out' ? 'timed_out' : 'cancelled';
    // The first reason stays; a shorter grace counts.
    attempt.stop =
      attempt.stop === null
        ? { outcome, error: sentenceOf(reason), endsBy }
        : { ...attempt.stop, endsBy: Math.min(attempt.stop.endsBy, endsBy) };
    attempt.abort(reason);
    if (attempt.state === 'waiting' || graceMs === 0) this.#settle(attempt, failure(outcome, ''));
  }

  /** What the handler came to, or what stopped it. What comes after the first is forgotten. */
  #settle(attempt: Attempt, result: Result): void {
    if (!attempt.isActive) return;
    const { stop, startedAt, assignment } = attempt;
    const endedAt = Math.max(startedAt, this.#config.timing.wallNow());
    this.#holds.markReported(attempt, {
      claim: assignment.claim,
      token: assignment.token,
      outcome: stop === null ? result.outcome : stop.outcome,
      output: stop === null ? result.output : '',
      error: stop === null ? result.error : [stop.error, result.error].filter(Boolean).join('\n'),
      startedAt: startedAt === 0 ? endedAt : startedAt,
      endedAt,
    });
    this.#onReported(attempt);
  }

  /** Looks at what time has done to one attempt that has not been reported. */
  watch(attempt: Attempt, now: number): void {
    if (attempt.stop !== null) {
      if (now < attempt.stop.endsBy) return;
      this.#config.log.warn('a handler has not settled in its grace; its slot is used again', {
        run: attempt.assignment.run,
        task: attempt.assignment.taskName,
      });
      this.#settle(attempt, failure(attempt.stop.outcome, 'The handler had not settled when its grace was over.'));
    } else if (now >= attempt.deadlineAt) {
      this.stop(attempt, 'timed_out', this.#config.timing.timeoutGraceMs);
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

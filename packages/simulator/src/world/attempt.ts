/** One claim at its worker: the user's function runs, ends or is stopped, and the report is kept until it is answered. */
import type { ClaimRef, ReportedOutcome } from '@signalbox/engine';
import type { Assignment, WorkerReport, WorkerRequest } from '@signalbox/host';
import type { Chance } from './chance.ts';
import type { WorkerTold } from './happening.ts';
import type { Process } from './process.ts';
import { asksOf, type Behaviour, behave, errorOf, failureOf, outcomeOf, outputOf, usedOf } from './user-code.ts';

/** The worker process that an attempt runs in. */
export interface AttemptOwner {
  readonly process: Process;
  readonly chance: Chance;
  tell(happening: WorkerTold): void;
  /** The user's function asks for something. */
  ask(attempt: Attempt, request: WorkerRequest['request']): void;
  /** The user's function has ended, or was stopped. */
  finished(attempt: Attempt): void;
  killedByUser(): void;
}

export function keyOf({ runId, taskNo, fence }: ClaimRef): string {
  return `${runId}/${taskNo}/${fence}`;
}

export class Attempt {
  readonly assignment: Assignment;
  readonly key: string;
  readonly arrivedAt: number;
  report: WorkerReport | null = null;
  /** The server has been told that this worker has it. */
  isNamed = false;
  /** How often its report was sent. */
  sendCount = 0;
  readonly #life: AttemptOwner;
  readonly #behaviour: Behaviour;
  readonly #startedAt: WorkerReport['startedAt'];
  /** By its own clock. */
  #deadlineAt = Number.POSITIVE_INFINITY;
  #isGone = false;
  #stopping: ReportedOutcome | null = null;
  /** Why it is to make room. */
  #displaced: 'preempted' | 'evicted' | null = null;

  constructor(life: AttemptOwner, assignment: Assignment) {
    this.#life = life;
    this.assignment = assignment;
    this.key = keyOf(assignment.claim);
    this.arrivedAt = life.process.mono();
    this.#startedAt = life.process.wall();
    this.#behaviour = behave(life.chance, assignment, this.arrivedAt);
  }

  /** How long ago it told of progress: steady work does so all the time, what hangs never. */
  get progressAgoMs(): number | null {
    const { end, durationMs } = this.#behaviour;
    if (end === 'hangs' || durationMs < 1_000) return null;
    return (this.#life.process.mono() - this.arrivedAt) % 500;
  }

  get claim(): ClaimRef {
    return this.assignment.claim;
  }

  /** It fills a slot. */
  get isActive(): boolean {
    return this.report === null && !this.#isGone;
  }

  start(): void {
    const { process } = this.#life;
    const { durationMs, end } = this.#behaviour;
    if (end !== 'hangs') process.after(durationMs, () => this.#end());
    for (const { atMs, request } of asksOf(this.#life.chance, this.assignment, durationMs)) {
      // Whoever was stopped may go on asking: it no longer holds the task, and must be told so.
      process.after(atMs, () => this.#life.ask(this, request));
    }
    const { timeoutMs } = this.assignment;
    if (timeoutMs === 0) return;
    this.#deadlineAt = process.mono() + timeoutMs;
    process.after(timeoutMs, () => this.#watch());
  }

  /** It got more time: the server's clock decides, this one only must not be quicker. */
  extended(leftMs: number): void {
    if (leftMs === 0) return;
    const { process } = this.#life;
    this.#deadlineAt = Math.max(this.#deadlineAt, process.mono() + leftMs);
    process.after(leftMs, () => this.#watch());
  }

  #watch(): void {
    if (this.#life.process.mono() >= this.#deadlineAt) this.stop('timeout', 250);
  }

  stop(outcome: ReportedOutcome, graceMs: number): void {
    if (!this.isActive) return;
    this.#stopping ??= outcome;
    const { stopsInMs } = this.#behaviour;
    this.#life.process.after(Math.min(stopsInMs ?? graceMs, graceMs), () => this.#finish(this.#stopping ?? outcome));
  }

  /** It makes room, and its task runs again. */
  displace(cause: 'preempted' | 'evicted', graceMs: number): void {
    if (!this.isActive || this.#stopping !== null) return;
    this.#displaced = cause;
    this.#life.tell({ what: 'displaced', claim: this.claim, cause });
    this.stop('lost', graceMs);
  }

  /** The lease may be over: the function is told, and may end for it. */
  abort(): void {
    if (!this.isActive || this.#stopping !== null || this.#behaviour.stopsInMs === null) return;
    this.#life.tell({ what: 'aborted', claim: this.claim });
    this.stop('lost', 10_000);
  }

  /** The server has the last word: nothing of it matters any more. */
  drop(): void {
    this.#isGone = true;
  }

  #end(): void {
    if (!this.isActive) return;
    if (this.#behaviour.end === 'kills its worker') return this.#life.killedByUser();
    this.#finish(this.#stopping ?? outcomeOf(this.#behaviour.end));
  }

  #finish(outcome: ReportedOutcome): void {
    if (!this.isActive) return;
    const { claim, token } = this.assignment;
    this.report = {
      claim,
      token: new Uint8Array(Buffer.from(token, 'base64')),
      outcome,
      output: outcome === 'succeeded' ? outputOf(this.assignment) : null,
      error: outcome === 'succeeded' ? null : errorOf(this.assignment),
      startedAt: this.#startedAt,
      ...(outcome === 'transient' && failureOf(claim)),
      used: usedOf(claim),
      ...(outcome === 'lost' && { code: this.#displaced ?? 'lost:stopped' }),
    };
    this.#life.finished(this);
  }
}

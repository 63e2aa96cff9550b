/**
 * One claim that the worker holds.
 *
 * `waiting` (arrived) → `running` (its handler was called, or its executor has it: it has begun when `hasBegun`) → `reported` (its report waits for an answer) → `gone`.
 * From any of them `gone` at once, when the server says that the claim is stale. One that is told to stop keeps its state
 * until it settles or its grace is over, and is then reported with what stopped it. One whose last lines of log are on
 * their way `isEnding`, and still counts as running.
 */
import type { HeldBooking } from '@signalbox/protocol';
import type { Assignment, Claim, Report, ReportedOutcome } from '@signalbox/protocol/grpc';
import { AttemptStopped, type StopReason } from '@signalbox/sdk';
import type { Execution } from './executors/execution.ts';
import type { AttemptLog } from './logs/attempt-log.ts';
import { Mask, tokenTexts } from './logs/mask.ts';
import { bookingIn } from './room.ts';

/** Fences of a task never repeat, so that run, task and fence name a claim. */
export const keyOf = (claim: Claim): string => `${claim.runId}/${claim.task}/${claim.fence}`;

export interface Stop {
  readonly outcome: ReportedOutcome;
  readonly code: string;
  readonly error: string;
  /** When it is reported whether or not its handler has settled; on the worker's own clock. */
  readonly endsBy: number;
}

/** What is no longer than this is not worth a copy of the assignment without it. */
const SMALL_CHARS = 512;
const NO_PAYLOAD = { params: '', upstream: [], map: [], references: [], work: '', checkpoint: '' };

export class Attempt {
  assignment: Assignment;
  readonly key: string;
  readonly arrivedAt: number;
  /** What it takes of the worker beside a slot. */
  readonly booking: HeldBooking | null;
  state: 'waiting' | 'running' | 'reported' | 'gone' = 'waiting';
  /** By the wall clock. */
  startedAt = 0;
  /** When its own time is over; on the worker's own clock. */
  deadlineAt = Number.POSITIVE_INFINITY;
  /** When it counts as slow; on the worker's own clock. */
  slowAt = Number.POSITIVE_INFINITY;
  #begunAt = 0;
  hasBegun = false;
  /** Whether one of the worker's slots is its own; the executor of functions takes slots for its attempts itself. */
  holdsSlot = false;
  stop: Stop | null = null;
  report: Report | null = null;
  /** When its report was last written to a stream; null while it waits for one. */
  sentAt: number | null = null;
  /** Whether its report is in the outbox, so it is never there twice. */
  queued = false;
  /** Whether the server has been told in any way that this worker has it. */
  named = false;
  stopReason: StopReason | null = null;
  /** What runs it, where that is not this process. */
  execution: Execution | null = null;
  /** When it was ended by force; on the worker's own clock. */
  forcedAt: number | null = null;
  log: AttemptLog | null = null;
  /** What its log must not show: values of secrets that it was given. */
  secretValues: readonly string[] = [];
  #mask: Mask | null = null;
  isEnding = false;
  /** What it has told last, and when; on the worker's own clock. */
  progress: { readonly fraction: number | null; readonly note: string; readonly at: number } | null = null;
  /** Takes its soft timeout to the handler. */
  onSlow: (() => void) | null = null;
  isSlow = false;
  #controller: AbortController | null = null;

  constructor(assignment: Assignment, key: string, arrivedAt: number) {
    this.assignment = assignment;
    this.key = key;
    this.arrivedAt = arrivedAt;
    this.booking = bookingIn(assignment.booking);
  }

  get claim(): Claim {
    return this.assignment.claim;
  }

  /**
   * Hides the secrets that it was given, and its own token: who reads a log must not be able to report for it (I67). Made
   * when first asked for: most attempts say nothing.
   */
  get mask(): Mask {
    this.#mask ??= new Mask([...this.secretValues, ...tokenTexts(this.assignment.token)]);
    return this.#mask;
  }

  /** Its clocks run from here; on the worker's own clock. */
  began(now: number): void {
    const { timeoutMs, softTimeoutMs } = this.assignment;
    this.#begunAt = now;
    this.hasBegun = true;
    if (timeoutMs > 0) this.deadlineAt = now + timeoutMs;
    if (softTimeoutMs > 0) this.slowAt = now + softTimeoutMs;
  }

  /** When it will have made no progress for longer than it may. */
  get stuckAt(): number {
    const { stuckMs } = this.assignment;
    return stuckMs === 0 || !this.hasBegun ? Number.POSITIVE_INFINITY : (this.progress?.at ?? this.#begunAt) + stuckMs;
  }

  /** What only running it needed is not kept while the report waits for its answer. */
  dropPayload(): void {
    const { params, upstream, map, references, work, checkpoint } = this.assignment;
    const chars = params.length + work.length + checkpoint.length;
    if (chars > SMALL_CHARS || upstream.length + map.length + references.length > 0) {
      this.assignment = { ...this.assignment, ...NO_PAYLOAD };
    }
    this.execution = null;
    this.log = null;
  }

  get isActive(): boolean {
    return this.state === 'running' || this.state === 'waiting';
  }

  /** Made when first asked for: most handlers never do, and it would be the dearest part of an empty task. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.stopReason !== null) this.#controller.abort(stopped(this.stopReason));
    }
    return this.#controller.signal;
  }

  /** Fires its signal; the first reason stays. */
  abort(reason: StopReason): void {
    if (this.stopReason !== null) return;
    this.stopReason = reason;
    this.#controller?.abort(stopped(reason));
    this.execution?.stop(reason);
  }
}

const SENTENCES: Record<StopReason, string> = {
  cancelled: 'The attempt was cancelled.',
  timeout: 'The attempt ran longer than its timeout.',
  stuck: 'The attempt reported no progress for too long.',
  lost: 'No server was heard for the time of the lease: another attempt may have begun.',
  superseded: 'Another attempt of the task was faster. This one is not needed.',
  stale: 'This attempt does not hold the task any more: its result is not recorded.',
  killed: 'The worker was stopped.',
  preempted: 'The attempt made room for a critical task. It runs again, from its checkpoint, and costs no retry.',
  evicted: 'The worker is taken away. The task runs again, from its checkpoint, and costs no retry.',
};

export const sentenceOf = (reason: StopReason): string => SENTENCES[reason];
export const stopped = (reason: StopReason): AttemptStopped => new AttemptStopped(reason, SENTENCES[reason]);

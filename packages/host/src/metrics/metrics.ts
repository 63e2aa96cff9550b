/**
 * Plain numbers for operators. They are counted when a commit has succeeded, not when a decision is made, so the engine's
 * loop pays nothing. Whatever can be counted on request is counted on request.
 */
import {
  ATTEMPT_OUTCOMES,
  type AttemptOutcome,
  type Change,
  DEAD_LETTER_REASONS,
  type DeadLetterReason,
  type DeadLetterState,
  EVICTED,
  PREEMPTED,
  PRIORITIES,
  type Priority,
  type QueueLoad,
  queueLoads,
  type ReturnReason,
  RUN_OUTCOMES,
  type RunCreated,
  type RunOutcome,
  type State,
} from '@signalbox/engine';
import type { Session } from '../gateway/session.ts';
import { Histogram, type HistogramSeen } from './histogram.ts';

type Counts<Word extends string> = Readonly<Record<Word, number>>;

export interface HostMetrics {
  // As it is now.
  readonly shardsOwned: number;
  readonly liveRuns: number;
  /** Also those that a limit holds back. */
  readonly readyTasks: Counts<Priority>;
  /** By queue, of all tenants. */
  readonly queues: readonly Omit<QueueLoad, 'tenantId'>[];
  readonly runningAttempts: number;
  /** Breakers that hold something back, or let it go; and the retries that wait for the budget. */
  readonly breakers: Counts<'open' | 'ramping'>;
  readonly heldRetries: number;
  readonly inboxLength: number;
  /** Of the workers whose streams end here. */
  readonly workers: number;
  readonly slots: number;
  readonly freeSlots: number;
  // Seconds since the process started.
  readonly runsCreated: Counts<RunCreated['cause']>;
  readonly runsEnded: Counts<RunOutcome>;
  readonly runsReopened: number;
  readonly claims: number;
  /** Claims that never began, by why they came back. */
  readonly claimsReturned: Counts<ReturnReason>;
  readonly attemptsEnded: Counts<AttemptOutcome>;
  /** Attempts that were told to stop and run again: for a critical task, or because their worker was taken away. */
  readonly attemptsDisplaced: Counts<'preempted' | 'evicted'>;
  /** Speculative attempts beside slow ones, and how many of them were the first to succeed. */
  readonly speculativeAttempts: Counts<'begun' | 'won'>;
  readonly deadLettersWritten: Counts<DeadLetterReason>;
  readonly deadLettersClosed: Counts<Exclude<DeadLetterState, 'open'>>;
  readonly commits: number;
  readonly changes: number;
  /** How often memory was dropped and loaded anew. */
  readonly reloads: number;
  readonly commitMs: HistogramSeen;
  readonly commandsPerBatch: HistogramSeen;
  readonly changesPerCommit: HistogramSeen;
}

const COMMIT_MS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];

type Open<T> = { -readonly [K in keyof T]: T[K] };

export class Metrics {
  private readonly runsCreated: Open<Counts<RunCreated['cause']>> = {
    api: 0,
    schedule: 0,
    event: 0,
    parent: 0,
    backfill: 0,
  };
  private readonly runsEnded = zeros(RUN_OUTCOMES);
  private readonly claimsReturned: Open<Counts<ReturnReason>> = { refused: 0, undelivered: 0, drained: 0 };
  private readonly attemptsEnded = zeros(ATTEMPT_OUTCOMES);
  private readonly attemptsDisplaced: Open<Counts<'preempted' | 'evicted'>> = { preempted: 0, evicted: 0 };
  private readonly speculativeAttempts: Open<Counts<'begun' | 'won'>> = { begun: 0, won: 0 };
  private readonly deadLettersWritten = zeros(DEAD_LETTER_REASONS);
  private readonly deadLettersClosed: Open<Counts<Exclude<DeadLetterState, 'open'>>> = {
    replayed: 0,
    discarded: 0,
    expired: 0,
  };
  private readonly commitMs = new Histogram(COMMIT_MS);
  private readonly commandsPerBatch = new Histogram(BATCH_SIZES);
  private readonly changesPerCommit = new Histogram(BATCH_SIZES);
  private claims = 0;
  private runsReopened = 0;
  private commits = 0;
  private changes = 0;
  private reloads = 0;

  /** After the commit of a batch. One without changes was none. */
  committed(changes: readonly Change[], { commandCount, tookMs }: { commandCount: number; tookMs: number }): void {
    if (commandCount > 0) this.commandsPerBatch.add(commandCount);
    if (changes.length === 0) return;
    this.commits += 1;
    this.changes += changes.length;
    this.commitMs.add(tookMs);
    this.changesPerCommit.add(changes.length);
    for (const change of changes) this.count(change);
  }

  reloaded(): void {
    this.reloads += 1;
  }

  seen(state: State | null, sessions: readonly Session[], inboxLength: number): HostMetrics {
    return {
      ...stateMetrics(state),
      inboxLength,
      workers: sessions.length,
      slots: sessions.reduce((sum, { slots }) => sum + slots, 0),
      freeSlots: sessions.reduce((sum, session) => sum + roomOf(session), 0),
      runsCreated: { ...this.runsCreated },
      runsEnded: { ...this.runsEnded },
      runsReopened: this.runsReopened,
      claims: this.claims,
      claimsReturned: { ...this.claimsReturned },
      attemptsEnded: { ...this.attemptsEnded },
      attemptsDisplaced: { ...this.attemptsDisplaced },
      speculativeAttempts: { ...this.speculativeAttempts },
      deadLettersWritten: { ...this.deadLettersWritten },
      deadLettersClosed: { ...this.deadLettersClosed },
      commits: this.commits,
      changes: this.changes,
      reloads: this.reloads,
      commitMs: this.commitMs.seen(),
      commandsPerBatch: this.commandsPerBatch.seen(),
      changesPerCommit: this.changesPerCommit.seen(),
    };
  }

  private count(change: Change): void {
    switch (change.kind) {
      case 'AttemptClaimed':
        this.claims += 1;
        return;
      case 'AttemptEnded':
        this.attemptsEnded[change.outcome] += 1;
        if (change.speculative && change.outcome === 'succeeded') this.speculativeAttempts.won += 1;
        if (change.outcome === 'lost' && (change.code === PREEMPTED || change.code === EVICTED))
          this.attemptsDisplaced[change.code] += 1;
        return;
      case 'SpeculativeClaimed':
        this.claims += 1;
        this.speculativeAttempts.begun += 1;
        return;
      case 'SpeculativeEnded':
      case 'SpeculativeTookOver':
        this.attemptsEnded[change.outcome] += 1;
        return;
      case 'SpeculativeReturned':
        this.claimsReturned[change.reason] += 1;
        return;
      case 'RunCreated':
        this.runsCreated[change.cause] += 1;
        return;
      case 'RunEnded':
        this.runsEnded[change.outcome] += 1;
        return;
      case 'ClaimReturned':
        this.claimsReturned[change.reason] += 1;
        return;
      case 'DeadLetterWritten':
        this.deadLettersWritten[change.reason] += 1;
        return;
      case 'DeadLetterClosed':
        this.deadLettersClosed[change.as] += 1;
        return;
      case 'RunReopened':
        this.runsReopened += 1;
        return;
      default:
    }
  }
}

function stateMetrics(
  state: State | null,
): Pick<
  HostMetrics,
  'shardsOwned' | 'liveRuns' | 'readyTasks' | 'queues' | 'runningAttempts' | 'breakers' | 'heldRetries'
> {
  const readyTasks = zeros(PRIORITIES);
  const breakers = { open: 0, ramping: 0 };
  if (state === null) {
    return { shardsOwned: 0, liveRuns: 0, readyTasks, queues: [], runningAttempts: 0, breakers, heldRetries: 0 };
  }
  let heldRetries = state.breakers.budget.waitingCount;
  for (const breaker of state.breakers.all()) {
    breakers[breaker.state] += 1;
    heldRetries += breaker.heldCount;
  }
  let runningAttempts = 0;
  for (const worker of state.workers.all()) runningAttempts += worker.running;
  for (const dag of state.dags.byId.values()) {
    for (const lanes of dag.lanes.values()) {
      for (const lane of lanes) if (lane !== undefined) readyTasks[PRIORITIES[lane.priority] ?? 'low'] += lane.ready;
    }
  }
  // Those that have just ended stay until their commit is settled.
  const liveRuns = state.runs.count - state.lingering.length;
  const queues = largestQueues(state);
  return { shardsOwned: state.shards.size, liveRuns, readyTasks, queues, runningAttempts, breakers, heldRetries };
}

/** Each is a series of its own, and names come from dags: beyond so many the smallest are left out. */
const MOST_QUEUES = 200;

function largestQueues(state: State): Omit<QueueLoad, 'tenantId'>[] {
  const found = new Map<string, Omit<QueueLoad, 'tenantId'>>();
  for (const { queue, waiting, held, running, oldestAt } of queueLoads(state)) {
    const known = found.get(queue) ?? { queue, waiting: 0, held: 0, running: 0, oldestAt: null };
    known.waiting += waiting;
    known.held += held;
    known.running += running;
    if (oldestAt !== null && (known.oldestAt === null || oldestAt < known.oldestAt)) known.oldestAt = oldestAt;
    found.set(queue, known);
  }
  const size = ({ waiting, running }: Omit<QueueLoad, 'tenantId'>) => waiting + running;
  return [...found.values()].sort((a, b) => size(b) - size(a)).slice(0, MOST_QUEUES);
}

/** Slots that no claim fills, lent or not. */
function roomOf({ isDraining, slots, held }: Session): number {
  return isDraining ? 0 : Math.max(0, slots - held.size);
}

function zeros<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word) => [word, 0])) as Record<Word, number>;
}

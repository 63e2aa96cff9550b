/**
 * The connection from the edge to the main thread. Requests are sent in batches, each gets one answer, and the number of
 * open requests is limited (I68, I74).
 */
import type { MessagePort } from 'node:worker_threads';
import type { Command, LimitName, RunId, SubmitRuns, TenantId, WaitingTask, WorkerId } from '@signalbox/engine';
import type { ProgressSeen, Routed } from '@signalbox/host';
import { PRIORITIES, type Priority, type RetentionRun, SignalboxError } from '@signalbox/protocol';
import type {
  EdgeAsks,
  FromEdge,
  MainAnswers,
  MainMetrics,
  Readiness,
  SeenBlockers,
  SeenQueues,
  SeenSlots,
  SeenWait,
  SeenWorkers,
} from './messages.ts';

const MOST_UNDER_WAY = 10_000;
/** Runs that were submitted and not answered yet: what the main thread's queue takes, and what it is at. */
const MOST_RUNS_UNDER_WAY = 20_000;
/** How many of these one caller can have, so a flood leaves room for others. */
const MOST_RUNS_OF_CALLER = 15_000;
/** Refused first when there is too much (I74). */
const SUBMISSIONS: ReadonlySet<Command['kind']> = new Set<Command['kind']>(['SubmitRuns', 'DeployDag']);
/** Of the room for submissions, what each class may fill: as the main thread does it. What names no priority counts as normal. */
const SHARES = { critical: 3, high: 1, normal: 0.8, low: 0.5 } as const;
/** The main thread answers by the deadline; if it stands still, nobody waits for much longer. */
const LATE_MS = 500;
const PROGRESS_MS = 250;

type Ask = EdgeAsks extends infer A ? (A extends unknown ? Omit<A, 'no'> : never) : never;

interface Waiting {
  readonly settle: (answer: MainAnswers) => void;
}

/** One critical run must not carry a thousand others through. */
export function leastUrgent(items: SubmitRuns['items']): Priority {
  let last = 0;
  for (const { priority } of items) last = Math.max(last, PRIORITIES.indexOf(priority ?? 'normal'));
  return PRIORITIES[last] ?? 'normal';
}

export class MainLine {
  readonly #port: Pick<MessagePort, 'postMessage'>;
  readonly #waiting = new Map<number, Waiting>();
  #asks: EdgeAsks[] = [];
  #lastNo = 0;
  #runsUnderWay = 0;
  readonly #runsOfCallers = new Map<string, number>();

  constructor(port: Pick<MessagePort, 'postMessage'>) {
    this.#port = port;
  }

  /** Submissions are charged by their runs, to the queue and to their caller. Cancels and the like have room of their own (I74). */
  async command(command: Command, deadlineMs: number, caller = ''): Promise<Routed> {
    const isSubmission = SUBMISSIONS.has(command.kind);
    const share = command.kind === 'SubmitRuns' ? SHARES[leastUrgent(command.items)] : 1;
    if (this.#waiting.size >= MOST_UNDER_WAY * (isSubmission ? Math.min(share, 1.5) : 2))
      return { status: 'overloaded' };
    if (!isSubmission) return this.#command(command, deadlineMs);
    const runs = command.kind === 'SubmitRuns' ? command.items.length : 1;
    const ofCaller = this.#runsOfCallers.get(caller) ?? 0;
    if (this.#runsUnderWay + runs > MOST_RUNS_UNDER_WAY * share || ofCaller + runs > MOST_RUNS_OF_CALLER * share) {
      return { status: 'overloaded' };
    }
    this.#count(caller, runs);
    try {
      return await this.#command(command, deadlineMs);
    } finally {
      this.#count(caller, -runs);
    }
  }

  async #command(command: Command, deadlineMs: number): Promise<Routed> {
    const answer = await this.#ask({ kind: 'command', command, deadlineMs }, deadlineMs + LATE_MS);
    if (answer === null) return { status: 'unknown' };
    return answer.kind === 'routed' ? answer.routed : { status: 'unknown' };
  }

  #count(caller: string, runs: number): void {
    this.#runsUnderWay += runs;
    const left = (this.#runsOfCallers.get(caller) ?? 0) + runs;
    if (left === 0) this.#runsOfCallers.delete(caller);
    else this.#runsOfCallers.set(caller, left);
  }

  /** Only those of the tenant (I65). */
  async workers(tenantId: TenantId, deadlineMs: number): Promise<SeenWorkers> {
    const answer = await this.#ask({ kind: 'workers', tenantId }, deadlineMs);
    if (answer?.kind === 'workers') return answer.seen;
    throw noAnswer();
  }

  /** Only those with tasks of the tenant, which are counted for it alone (I65). */
  async queues(tenantId: TenantId, deadlineMs: number): Promise<SeenQueues> {
    const answer = await this.#ask({ kind: 'queues', tenantId }, deadlineMs);
    if (answer?.kind === 'queues') return answer.seen;
    throw noAnswer();
  }

  /** False when no server knows such a worker of the tenant. */
  async drain(
    worker: { tenantId: TenantId; workerId: WorkerId; evictMs?: number },
    deadlineMs: number,
  ): Promise<boolean> {
    const answer = await this.#ask({ kind: 'drain', ...worker }, deadlineMs);
    if (answer?.kind === 'drained') return answer.isKnown;
    throw new SignalboxError('UNKNOWN_OUTCOME', { retryAfterMs: 1_000 });
  }

  /** What running attempts of a run have told. Nothing rather than late: a run can be shown without it. */
  async progress(runId: RunId): Promise<readonly ProgressSeen[]> {
    const answer = await this.#ask({ kind: 'progress', runId }, PROGRESS_MS);
    return answer?.kind === 'progress' ? answer.told : [];
  }

  /** Who has slots of a limit. */
  async slots(limit: LimitName, deadlineMs: number): Promise<SeenSlots> {
    const answer = await this.#ask({ kind: 'slots', limit }, deadlineMs);
    if (answer?.kind === 'slots') return answer.seen;
    throw noAnswer();
  }

  /** What holds back work of the tenant. */
  async blockers(tenantId: TenantId, deadlineMs: number): Promise<SeenBlockers> {
    const answer = await this.#ask({ kind: 'blockers', tenantId }, deadlineMs);
    if (answer?.kind === 'blockers') return answer.seen;
    throw noAnswer();
  }

  /** What a task waits for, as the matcher sees it. */
  async wait(task: WaitingTask, deadlineMs: number): Promise<SeenWait> {
    const answer = await this.#ask({ kind: 'wait', task }, deadlineMs);
    if (answer?.kind === 'wait') return answer.seen;
    throw noAnswer();
  }

  async metrics(deadlineMs: number): Promise<MainMetrics> {
    const answer = await this.#ask({ kind: 'metrics' }, deadlineMs);
    if (answer?.kind === 'metrics') return answer.metrics;
    throw noAnswer();
  }

  async dropExpired(deadlineMs: number): Promise<RetentionRun> {
    const answer = await this.#ask({ kind: 'dropExpired' }, deadlineMs);
    if (answer?.kind === 'dropped') return answer.dropped;
    throw new SignalboxError('UNKNOWN_OUTCOME', { retryAfterMs: 1_000 });
  }

  async readiness(deadlineMs: number): Promise<Readiness | null> {
    const answer = await this.#ask({ kind: 'readiness' }, deadlineMs);
    return answer?.kind === 'readiness' ? answer.readiness : null;
  }

  take(answers: readonly MainAnswers[]): void {
    for (const answer of answers) this.#waiting.get(answer.no)?.settle(answer);
  }

  /** Null when no answer came in time. */
  #ask(ask: Ask, withinMs: number): Promise<MainAnswers | null> {
    return new Promise((resolve) => {
      this.#lastNo += 1;
      const no = this.#lastNo;
      const settle = (answer: MainAnswers | null) => {
        clearTimeout(timer);
        this.#waiting.delete(no);
        resolve(answer);
      };
      const timer = setTimeout(() => settle(null), withinMs);
      this.#waiting.set(no, { settle });
      this.#asks.push({ ...ask, no });
      if (this.#asks.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const asks = this.#asks;
    this.#asks = [];
    this.#port.postMessage({ kind: 'asks', asks } satisfies FromEdge);
  }
}

function noAnswer(): SignalboxError {
  return new SignalboxError('UNAVAILABLE', { reason: 'the scheduler gives no answer', retryAfterMs: 1_000 });
}

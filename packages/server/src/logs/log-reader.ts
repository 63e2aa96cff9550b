/**
 * Reads logs for people, on whichever node they are. A log is complete when its attempt has ended, its last lines have had a
 * moment to arrive, and all lines were read.
 */
import { type RunId, TaskNames, type TaskNo, type TenantId } from '@signalbox/engine';
import { SignalboxError } from '@signalbox/protocol';
import type { LogAttempts, LogAttemptView, Queries } from '@signalbox/store';
import { systemClock } from '../ports/clock.ts';
import type { NumberedLine } from './frame.ts';
import type { LogPage, LogStats, LogStore, ReadLog } from './log-store.ts';
import { cutAtGap, mergePages } from './merge.ts';
import { type NodeLogs, readMany } from './node-logs.ts';
import { advance, type RunCursor } from './run-cursor.ts';

export interface RunName {
  readonly tenantId: TenantId;
  readonly uid: string;
}

export interface AttemptName extends RunName {
  readonly task: string;
  readonly attempt: number | 'last';
}

export interface AttemptLogPage {
  readonly lines: readonly NumberedLine[];
  readonly next: number;
  readonly isOver: boolean;
  /** Nodes that may have lines and gave no answer. */
  readonly missing: readonly string[];
}

export interface RunLine extends NumberedLine {
  readonly task: string;
  readonly attempt: number;
}

export interface RunLogPage {
  readonly lines: readonly RunLine[];
  readonly next: RunCursor;
  readonly isOver: boolean;
  readonly missing: readonly string[];
}

/** A worker sends its last lines within this time of the end of their attempt, or never. */
const LATE_MS = 1_000;
const POLL_MS = 500;
const SILENT_MS = 15_000;
/** Lines that come one by one are read a few at a time; those that are all there already, without a pause. */
const PAUSE_MS = 30;
const FOLLOWED_LINES = 2_000;
/** Runs whose tasks' names are remembered, by the sum of their tasks. */
const NAMES_KEPT = 500_000;

interface KnownRun {
  readonly runId: RunId;
  readonly names: TaskNames;
  readonly count: number;
  /** In a dag with maps more tasks may come. */
  readonly mayGrow: boolean;
}

export class LogReader {
  readonly #logs: LogStore;
  readonly #nodes: NodeLogs;
  readonly #queries: Pick<Queries, 'getRun' | 'getLogAttempts'>;
  readonly #runs = new Map<string, KnownRun>();
  #namesKept = 0;

  constructor(ports: { logs: LogStore; nodes: NodeLogs; queries: Pick<Queries, 'getRun' | 'getLogAttempts'> }) {
    this.#logs = ports.logs;
    this.#nodes = ports.nodes;
    this.#queries = ports.queries;
  }

  get stats(): LogStats {
    return this.#logs.stats;
  }

  async attemptPage(
    name: AttemptName,
    { from, limit }: { readonly from: number; readonly limit: number },
  ): Promise<AttemptLogPage> {
    const { runId, taskNo } = await this.#findTask(name);
    const known = await this.#attempts(name, runId, taskNo);
    const attempt =
      name.attempt === 'last'
        ? known.attempts.reduce<LogAttemptView | null>(
            (a, b) => (a === null || b.attemptNo > a.attemptNo ? b : a),
            null,
          )
        : known.attempts.find(({ attemptNo }) => attemptNo === name.attempt);
    if (attempt === undefined)
      throw new SignalboxError('ATTEMPT_NOT_FOUND', { task: name.task, attempt: name.attempt });
    // Nobody has begun it: unless the run is over somebody may.
    if (attempt === null) return { lines: [], next: from, isOver: known.isEnded, missing: [] };
    const isSettled = settled(attempt, known);
    const { pages, missing } = await this.#read([readOf(runId, attempt, { from, limit })]);
    const { lines, hasMore } = cutAtGap(pages[0] ?? NOTHING, { from, isSettled, now: systemClock.wall() });
    const next = (lines.at(-1)?.no ?? from - 1) + 1;
    return { lines, next, isOver: isSettled && !hasMore, missing };
  }

  /** Lines of all tasks by their time, as far as they are there. */
  async runPage(
    name: RunName,
    { cursor, limit }: { readonly cursor: RunCursor; readonly limit: number },
  ): Promise<RunLogPage> {
    const { runId, ...run } = await this.#findRun(name);
    const known = await this.#attempts(name, runId, null);
    const isNew = run.mayGrow && known.attempts.some(({ taskNo }) => run.names.nameOf(taskNo) === null);
    const { names } = isNew ? await this.#findRun(name, true) : run;
    const page = await advance({
      cursor,
      limit,
      attempts: known.attempts,
      isSettled: (attempt) => settled(attempt, known),
      read: (wanted) =>
        this.#read(wanted.map(({ attempt, from, limit: most }) => readOf(runId, attempt, { from, limit: most }))),
      now: systemClock.wall(),
    });
    const lines = page.lines.map(({ attempt, line }) => ({
      task: names.nameOf(attempt.taskNo) ?? '',
      attempt: attempt.attemptNo,
      ...line,
    }));
    return { lines, next: page.next, isOver: known.isEnded && page.isAll, missing: page.missing };
  }

  /** Pages as lines come, until the log is over or the caller has enough; an empty one now and then says that it goes on. */
  async *followAttempt(name: AttemptName, from: number, signal: AbortSignal): AsyncGenerator<AttemptLogPage, void> {
    // A retry has a log of its own: who follows the last attempt follows the one that is the last now.
    let pinned = name;
    let next = from;
    yield* this.#follow(name, signal, async () => {
      if (pinned.attempt === 'last') pinned = { ...name, attempt: (await this.#lastAttempt(name)) ?? 'last' };
      const page = await this.attemptPage(pinned, { from: next, limit: FOLLOWED_LINES });
      next = page.next;
      return page;
    });
  }

  async *followRun(name: RunName, from: RunCursor, signal: AbortSignal): AsyncGenerator<RunLogPage, void> {
    let cursor = from;
    yield* this.#follow(name, signal, async () => {
      const page = await this.runPage(name, { cursor, limit: FOLLOWED_LINES });
      cursor = page.next;
      return page;
    });
  }

  async *#follow<Page extends { lines: readonly unknown[]; isOver: boolean }>(
    name: RunName,
    signal: AbortSignal,
    read: () => Promise<Page>,
  ): AsyncGenerator<Page, void> {
    const { runId } = await this.#findRun(name);
    const news = new News(signal);
    let saidAt = systemClock.mono();
    const stop = this.#logs.follow(runId, () => news.tell());
    try {
      while (!signal.aborted) {
        const page = await read();
        const isSilent = systemClock.mono() - saidAt > SILENT_MS;
        if (page.lines.length > 0 || page.isOver || isSilent) {
          yield page;
          saidAt = systemClock.mono();
        }
        if (page.isOver) return;
        if (page.lines.length === 0) await news.wait(POLL_MS);
        else if (page.lines.length < FOLLOWED_LINES / 2) await pause(PAUSE_MS);
      }
    } finally {
      stop();
    }
  }

  async #lastAttempt(name: AttemptName): Promise<number | null> {
    const { runId, taskNo } = await this.#findTask(name);
    const { attempts } = await this.#attempts(name, runId, taskNo);
    return attempts.length === 0 ? null : Math.max(...attempts.map(({ attemptNo }) => attemptNo));
  }

  async #read(reads: readonly ReadLog[]): Promise<{ pages: LogPage[]; missing: string[] }> {
    const [own, others] = await Promise.all([readMany(this.#logs, reads), this.#nodes.read(reads)]);
    const pages = reads.map(({ from, limit }, i) =>
      mergePages([own[i] ?? NOTHING, ...(others.pages[i] ?? [])], { from, limit }),
    );
    return { pages, missing: others.missing };
  }

  async #findTask(name: AttemptName): Promise<{ runId: RunId; taskNo: TaskNo }> {
    const run = await this.#findRun(name);
    const { runId } = run;
    let taskNo = run.names.numberOf(name.task);
    if (taskNo === null && run.mayGrow) taskNo = (await this.#findRun(name, true)).names.numberOf(name.task);
    if (taskNo === null) throw new SignalboxError('TASK_NOT_FOUND', { task: name.task });
    return { runId, taskNo: taskNo as TaskNo };
  }

  /** A run's version never changes, so its names are asked for once; `anew` when its maps may have made, or its tasks added, more of them. */
  async #findRun({ tenantId, uid }: RunName, anew = false): Promise<KnownRun> {
    const key = `${tenantId}/${uid}`;
    const known = this.#runs.get(key);
    if (known !== undefined && !anew) return known;
    const run = await this.#queries.getRun(tenantId, uid, () => []);
    if (run === null) throw new SignalboxError('RUN_NOT_FOUND', { run: uid });
    const { spec, maps } = run;
    const count = spec.tasks.length + maps.length;
    const hasMaps = spec.groups?.some(({ map }) => map !== undefined) === true;
    const mayGrow = hasMaps || spec.templates !== undefined;
    const found = { runId: run.runId, names: new TaskNames(spec, maps), count, mayGrow };
    this.#namesKept += found.count - (known?.count ?? 0);
    this.#runs.set(key, found);
    for (const [oldest, old] of this.#runs) {
      if (this.#namesKept <= NAMES_KEPT) break;
      this.#runs.delete(oldest);
      this.#namesKept -= old.count;
    }
    return found;
  }

  async #attempts({ tenantId, uid }: RunName, runId: RunId, taskNo: TaskNo | null): Promise<LogAttempts> {
    const found = await this.#queries.getLogAttempts(tenantId, { runId, taskNo });
    if (found === null) throw new SignalboxError('RUN_NOT_FOUND', { run: uid });
    return found;
  }
}

const NOTHING: LogPage = { lines: [], hasMore: false };

function settled({ endedAt }: LogAttemptView, run: LogAttempts): boolean {
  const end = endedAt ?? run.endedAt;
  return end !== null && systemClock.wall() - end > LATE_MS;
}

function readOf(runId: number, attempt: LogAttemptView, page: { from: number; limit: number }): ReadLog {
  const { taskNo, attemptNo, fence, claimedAt, endedAt } = attempt;
  return { attempt: { runId, taskNo, attemptNo, fence }, since: claimedAt, until: endedAt, ...page };
}

/** Whether something has happened since the last wait. */
class News {
  #isTold = false;
  #wake: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.tell(), { once: true });
  }

  tell(): void {
    this.#isTold = true;
    this.#wake();
  }

  async wait(ms: number): Promise<void> {
    if (!this.#isTold) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      await pause(PAUSE_MS);
    }
    this.#isTold = false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

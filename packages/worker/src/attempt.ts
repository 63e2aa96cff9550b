/**
 * One claim that the worker holds.
 *
 * `waiting` (arrived) → `running` (its handler was called) → `reported` (its report waits for an answer) → `gone`.
 * From any of them `gone` at once, when the server says that the claim is stale. One that is told to stop keeps its state
 * until it settles or its grace is over, and is then reported with what stopped it. One whose last lines of log are on
 * their way `isEnding`, and still counts as running.
 */
import type { Assignment, Claim, Report, ReportedOutcome } from '@signalbox/protocol/grpc';
import { AttemptStopped, type HandlerContext, type Log, type StopReason } from '@signalbox/sdk';
import { type Asker, type Asking, makeAsking } from '@signalbox/sdk/asking';
import { logLine } from './child/log-line.ts';
import type { Execution } from './executors/port.ts';
import { type InputRoots, resolveInputs } from './inputs.ts';
import { withFields } from './log.ts';
import type { AttemptLog } from './logs/attempt-log.ts';
import type { LogBook } from './logs/log-book.ts';
import { Mask, tokenTexts } from './logs/mask.ts';
import { readUpstream } from './outputs/upstream.ts';
import { type MapItem, readMap } from './read-map.ts';
import { secretOf } from './secrets.ts';
import { filled, filledText, type TextPlace } from './texts.ts';
import { NO_SECRETS, type Work } from './work.ts';

/** Fences of a task never repeat, so that run, task and fence name a claim. */
export const keyOf = (claim: Claim): string => `${claim.runId}/${claim.task}/${claim.fence}`;

export interface Stop {
  readonly outcome: ReportedOutcome;
  readonly code: string;
  readonly error: string;
  /** When it is reported whether or not its handler has settled; on the worker's own clock. */
  readonly endsBy: number;
}

export class Attempt {
  assignment: Assignment;
  readonly key: string;
  readonly arrivedAt: number;
  state: 'waiting' | 'running' | 'reported' | 'gone' = 'waiting';
  /** By the wall clock. */
  startedAt = 0;
  /** When its own time is over; on the worker's own clock. */
  deadlineAt = Number.POSITIVE_INFINITY;
  /** When it counts as slow; on the worker's own clock. */
  slowAt = Number.POSITIVE_INFINITY;
  #begunAt = 0;
  stop: Stop | null = null;
  report: Report | null = null;
  /** When its report was last written to a stream; null while it waits for one. */
  sentAt: number | null = null;
  /** Whether its report is in the outbox, so that it is there once. */
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
    if (timeoutMs > 0) this.deadlineAt = now + timeoutMs;
    if (softTimeoutMs > 0) this.slowAt = now + softTimeoutMs;
  }

  /** When it will have made no progress for longer than it may. */
  get stuckAt(): number {
    const { stuckMs } = this.assignment;
    return stuckMs === 0 ? Number.POSITIVE_INFINITY : (this.progress?.at ?? this.#begunAt) + stuckMs;
  }

  /** What only running it needed is not kept while the report waits for its answer. */
  dropPayload(): void {
    const { params, upstream, map, references, work, checkpoint } = this.assignment;
    const isEmpty = params === '' && work === '' && checkpoint === '';
    if (!isEmpty || upstream.length + map.length + references.length > 0) {
      const nothing = { params: '', upstream: [], map: [], references: [], work: '', checkpoint: '' };
      this.assignment = { ...this.assignment, ...nothing };
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
  timeout: 'The attempt ran longer than it may.',
  stuck: 'The attempt made no progress for longer than it may.',
  lost: 'No server was heard for the time of the lease: another attempt may have begun.',
  superseded: 'Another attempt of the task was quicker: this one is not needed.',
  stale: 'This attempt does not hold the task any more: its result is not recorded.',
  killed: 'The worker was stopped.',
};

export const sentenceOf = (reason: StopReason): string => SENTENCES[reason];
export const stopped = (reason: StopReason): AttemptStopped => new AttemptStopped(reason, SENTENCES[reason]);

export interface ContextParts {
  readonly attempt: Attempt;
  readonly log: Log;
  readonly book: LogBook;
  readonly work: Work | null;
  /** Made when first asked for: most handlers ask nothing. */
  readonly asker: () => Asker;
}

/** What the handler sees. JSON is parsed when it is asked for, and once. */
export class AttemptContext implements HandlerContext {
  readonly #attempt: Attempt;
  readonly #assignment: Assignment;
  readonly #log: Log;
  readonly #book: LogBook;
  readonly #work: Work | null;
  readonly #makeAsker: () => Asker;
  #asker: Asker | null = null;
  #asking: Asking | null = null;
  #inputs: Readonly<Record<string, unknown>> | null = null;
  #params: { readonly value: unknown } | null = null;
  #upstream: Readonly<Record<string, unknown>> | null = null;
  #map: readonly MapItem[] | null = null;

  constructor({ attempt, log, book, work, asker }: ContextParts) {
    this.#makeAsker = asker;
    this.#attempt = attempt;
    this.#assignment = attempt.assignment;
    this.#log = log;
    this.#book = book;
    this.#work = work;
  }

  get tenant(): string {
    return this.#assignment.tenant;
  }
  get dag(): string {
    return this.#assignment.dag;
  }
  get run(): string {
    return this.#assignment.run;
  }
  get task(): string {
    return this.#assignment.taskName;
  }
  get attempt(): number {
    return this.#assignment.claim.attempt;
  }
  get fence(): number {
    return this.#assignment.claim.fence;
  }
  get effectKey(): string {
    return this.#assignment.effectKey;
  }
  get token(): string {
    return this.#assignment.token.toString('base64url');
  }
  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  get params(): unknown {
    const { params } = this.#assignment;
    this.#params ??= { value: params === '' ? null : JSON.parse(params) };
    return this.#params.value;
  }

  get upstream(): Readonly<Record<string, unknown>> {
    const { upstream, references } = this.#assignment;
    this.#upstream ??= readUpstream({ upstream, unfetched: references.map(({ taskName }) => taskName) });
    return this.#upstream;
  }

  get map(): readonly MapItem[] {
    this.#map ??= readMap(this.#assignment.map);
    return this.#map;
  }
  get item(): unknown {
    return this.map.at(-1)?.item;
  }
  get index(): number {
    return this.#assignment.map.at(-1)?.index ?? 0;
  }

  get failedUpstream(): readonly string[] {
    return this.#assignment.failedUpstream;
  }

  get inputs(): Readonly<Record<string, unknown>> {
    this.#inputs ??= resolveInputs(this.#work?.shape.inputs, this.#roots());
    return this.#inputs;
  }

  #roots(): InputRoots {
    const { params, upstream, failedUpstream, map } = this;
    const absent = [...failedUpstream, ...this.#assignment.missingUpstream];
    return { params, upstream, absent, map, run: this.#runFields() };
  }

  #runFields(): InputRoots['run'] {
    const { run, dag, runInfo } = this.#assignment;
    const told = runInfo === '' ? {} : (JSON.parse(runInfo) as Readonly<Record<string, unknown>>);
    return {
      'run.id': run,
      'run.dag': dag,
      'run.createdAt': told.createdAt,
      'run.priority': told.priority,
      'window.at': told.window,
    };
  }

  /** A text of the work with its references filled in, or as it was written where it has none. */
  text(at: string, place: TextPlace, written: string): string {
    const template = this.#work?.shape.fill?.[at];
    return template === undefined ? written : filledText(template, place, this.#work, this.#roots());
  }

  /** The same for a value of any kind. */
  value(at: string, place: TextPlace, written: unknown): unknown {
    const template = this.#work?.shape.fill?.[at];
    return template === undefined ? written : filled(template, place, this.#work, this.#roots());
  }

  /** For executors, which bring questions here from where the attempt runs. */
  get asker(): Asker {
    this.#asker ??= this.#makeAsker();
    return this.#asker;
  }

  get #asks(): Asking {
    if (this.#asking === null) {
      const asking = makeAsking(this.asker, this.#assignment.checkpoint);
      this.#asking = asking;
      this.#attempt.onSlow = () => asking.slow();
      if (this.#attempt.isSlow) asking.slow();
    }
    return this.#asking;
  }
  get progress(): Asking['progress'] {
    return this.#asks.progress;
  }
  get extend(): Asking['extend'] {
    return this.#asks.extend;
  }
  get checkpoint(): Asking['checkpoint'] {
    return this.#asks.checkpoint;
  }
  get assertOwned(): Asking['assertOwned'] {
    return this.#asks.assertOwned;
  }
  get addTasks(): Asking['addTasks'] {
    return this.#asks.addTasks;
  }
  get onSlow(): Asking['onSlow'] {
    return this.#asks.onSlow;
  }

  /** Works when it is taken out of the context, too: handlers take apart what they are given. */
  get secret(): (name: string) => string {
    return (name) => secretOf(this.#work?.secrets ?? NO_SECRETS, name);
  }

  /** Lines go to the attempt's log and to the worker's own. */
  get log(): Log {
    const { dag, run, taskName } = this.#assignment;
    const own = withFields(this.#log, { dag, run, task: taskName, attempt: this.attempt });
    const { mask } = this.#attempt;
    const hide = (text: string): string => mask.text(text);
    const both = (level: keyof Log) => (message: string, fields?: object) => {
      const line = logLine(level, message, fields, hide);
      this.#book.of(this.#attempt)?.line('log', line);
      if (isClean(mask, [message, fields])) own[level](message, fields);
      else own[level](...maskedLine(mask, line));
    };
    return { debug: both('debug'), info: both('info'), warn: both('warn'), error: both('error') };
  }
}

/** Whether nothing in it has to be hidden. What can't be written as JSON counts as if there were. */
function isClean(mask: Mask, said: unknown): boolean {
  try {
    const text = JSON.stringify(said);
    return mask.text(text) === text;
  } catch {
    return false;
  }
}

function maskedLine(mask: Mask, line: string): [string, object?] {
  const masked = mask.text(line);
  try {
    const { message, fields } = JSON.parse(masked) as { readonly message: string; readonly fields?: object };
    return fields === undefined ? [message] : [message, fields];
  } catch {
    return [masked]; // The secret was part of the JSON's own signs.
  }
}

/** What a handler that runs in the worker's own process is given. */
import type { Assignment } from '@signalbox/protocol/grpc';
import type { GangMember, HandlerContext, Log, RunWindow } from '@signalbox/sdk';
import { type AttemptRequester, type AttemptRequests, makeAttemptRequests } from '@signalbox/sdk/attempt-requests';
import type { Attempt } from './attempt.ts';
import { logLine } from './child/log-line.ts';
import { gangMember } from './gang.ts';
import { type InputRoots, resolveInputs } from './inputs.ts';
import { withFields } from './log.ts';
import type { LogBook } from './logs/log-book.ts';
import type { Mask } from './logs/mask.ts';
import { readUpstream } from './outputs/upstream.ts';
import { type MapItem, readMap } from './read-map.ts';
import { RequestingContext } from './requesting-context.ts';
import { readRunInfo, windowIn } from './run-info.ts';
import { secretOf } from './secrets.ts';
import { filled, filledText, type TextPlace } from './texts.ts';
import { NO_SECRETS, type Work } from './work.ts';

interface ContextParts {
  readonly attempt: Attempt;
  readonly log: Log;
  readonly book: LogBook;
  readonly work: Work | null;
  /** Made when first asked for: most handlers ask nothing. */
  readonly requester: () => AttemptRequester;
}

/** What the handler sees. JSON is parsed when it is asked for, and once. */
export class AttemptContext extends RequestingContext implements HandlerContext {
  readonly #attempt: Attempt;
  readonly #assignment: Assignment;
  readonly #log: Log;
  readonly #book: LogBook;
  readonly #work: Work | null;
  readonly #makeRequester: () => AttemptRequester;
  #requester: AttemptRequester | null = null;
  #inputs: Readonly<Record<string, unknown>> | null = null;
  #params: { readonly value: unknown } | null = null;
  #upstream: Readonly<Record<string, unknown>> | null = null;
  #map: readonly MapItem[] | null = null;
  #window: { readonly value: RunWindow | null } | null = null;

  constructor({ attempt, log, book, work, requester }: ContextParts) {
    super();
    this.#makeRequester = requester;
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

  get window(): RunWindow | null {
    this.#window ??= { value: windowIn(this.#assignment.runInfo) };
    return this.#window.value;
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

  get gang(): GangMember | null {
    return gangMember(this.#attempt.booking?.gang);
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
    const told = readRunInfo(runInfo);
    return {
      'run.id': run,
      'run.dag': dag,
      'run.createdAt': told.createdAt,
      'run.priority': told.priority,
      'run.unmet': told.unmet ?? null,
      'run.assets': told.assets ?? null,
      'window.at': told.window,
      'window.start': told.windowStart ?? told.window,
      'window.end': told.window,
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
  get requester(): AttemptRequester {
    this.#requester ??= this.#makeRequester();
    return this.#requester;
  }

  protected override makeRequests(): AttemptRequests {
    const requests = makeAttemptRequests(this.requester, this.#assignment.checkpoint);
    this.#attempt.onSlow = () => requests.slow();
    if (this.#attempt.isSlow) requests.slow();
    return requests;
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

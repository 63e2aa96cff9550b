/**
 * The error table. Statuses, sentences and the reference page come from here and from nowhere else: a code for
 * programs, a sentence for people, and what to do about it. Words in braces are filled from an error's details.
 */

export type GrpcStatus =
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'UNAUTHENTICATED'
  | 'UNIMPLEMENTED';

export interface ErrorEntry {
  readonly http: number;
  readonly grpc: GrpcStatus;
  /** The same request, with the same idempotency key, may succeed later. */
  readonly retryable: boolean;
  readonly message: string;
  readonly remedy: string;
}

export const ERRORS = {
  UNAUTHENTICATED: {
    http: 401,
    grpc: 'UNAUTHENTICATED',
    retryable: false,
    message: 'The request carries no valid credential.',
    remedy: 'Send the header "Authorization: Bearer <token>" with a token that has not been revoked.',
  },
  FORBIDDEN: {
    http: 403,
    grpc: 'PERMISSION_DENIED',
    retryable: false,
    message: 'This credential may not {action}.',
    remedy: 'Use a credential whose role includes it, or ask an administrator for one.',
  },
  BAD_REQUEST: {
    http: 400,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The request is not well-formed.',
    remedy: 'Correct what "problems" names and send it again.',
  },
  PARAMS_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The params do not fit what the dag {dag} takes.',
    remedy: 'Correct what "problems" names. The dag shows its JSON Schema under "params".',
  },
  DAG_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no dag {dag}.',
    remedy: 'Check the name, or deploy the dag first.',
  },
  RUN_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no run {run}.',
    remedy: 'Check the id. Runs past their retention are removed.',
  },
  TASK_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no task {task} in this run.',
    remedy: 'Ask for the run to see its tasks: it keeps the version of the dag that it started with.',
  },
  CALLBACK_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'The run {run} has made no calls.',
    remedy:
      'Calls are made when a run of a dag with a callbackUrl has ended; they are forgotten a week after they were answered.',
  },
  BUNDLE_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no bundle {bundle}.',
    remedy: 'Upload the bundle first: one that no version names is removed a day after it was last sent.',
  },
  SCHEDULE_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Dag {dag} has no schedule.',
    remedy: 'Deploy the dag with a schedule first.',
  },
  TOKEN_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no valid token {token}.',
    remedy: 'List the tokens to see their names, and which of them were revoked.',
  },
  VERSION_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Dag {dag} has no version {version}.',
    remedy: 'List the versions of the dag to see which there are.',
  },
  ATTEMPT_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Task {task} has had no attempt {attempt}.',
    remedy: 'Ask for the attempts of the task to see their numbers; "last" names the newest.',
  },
  WORKER_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'No worker {worker} is connected.',
    remedy: 'List the workers to see who is connected, and to which server.',
  },
  EVENTS_EXPIRED: {
    http: 410,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Events after this cursor have been removed from the journal.',
    remedy: 'Read the state of what you follow, then listen again from now or from the start of what is kept.',
  },
  ROUTE_NOT_FOUND: {
    http: 404,
    grpc: 'UNIMPLEMENTED',
    retryable: false,
    message: 'There is no such route.',
    remedy: 'Check method and path against the API reference.',
  },
  IDEMPOTENCY_CONFLICT: {
    http: 409,
    grpc: 'ALREADY_EXISTS',
    retryable: false,
    message: 'The idempotency key {key} was used before with another body.',
    remedy: 'Send the first body again to get its answer, or choose a new key for a new request.',
  },
  RUN_ENDED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} has ended.',
    remedy: 'Nothing is left to be done to it; submit a new run if it should happen again.',
  },
  RUN_SET_ASIDE: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} was set aside: a fault of the server keeps it from being decided on.',
    remedy: 'Report it with the reason that the run shows; submit a new run if it must happen meanwhile.',
  },
  STALE_TOKEN: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Task {task} is no longer held by this attempt.',
    remedy: 'Stop the attempt: its result is not recorded. Ask for the task to see which attempt holds it.',
  },
  EXTEND_REFUSED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'The attempt gets no more time: {reason}.',
    remedy:
      'Tell of progress before asking for more time; give the task a longer timeout where it is too short for any attempt.',
  },
  ADD_REFUSED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'The tasks were not added: {reason}.',
    remedy: 'Correct what is said of them. None of the tasks of the call was added.',
  },
  DAG_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The definition of dag {dag} cannot be run.',
    remedy: 'Correct what "problems" names and deploy it again. What was deployed before is unchanged.',
  },
  BUNDLE_MISMATCH: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'What was sent is not bundle {bundle}: its SHA-256 is {actual}. Nothing was stored.',
    remedy:
      'Send the code byte by byte as it was hashed, under the hash of the code alone, in 64 lower-case hex digits.',
  },
  SCHEDULE_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The schedule cannot be used: {reason}.',
    remedy: 'Give a cron expression of 5 or 6 fields that fires at some time, and an IANA zone such as Europe/Berlin.',
  },
  TOO_LARGE: {
    http: 413,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: false,
    message: '{what} is larger than the limit of {limit}.',
    remedy: 'Send less at a time, or store the data elsewhere and pass a reference to it.',
  },
  BUNDLE_TOO_LARGE: {
    http: 413,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: false,
    message: 'A bundle and its source map may have {limit} bytes each.',
    remedy: 'Leave data out of the code: read it from a file or an address when the task runs.',
  },
  UNKNOWN_FORMAT: {
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'A message has format {format}; this side knows {known}.',
    remedy: 'Upgrade the older of the two sides.',
  },
  WRONG_HOST: {
    http: 421,
    grpc: 'PERMISSION_DENIED',
    retryable: false,
    message: 'The request was sent to the name {host}, or from an origin, that this server does not answer.',
    remedy: 'Use the address that the server printed at its start, or add the name to its allowed hosts.',
  },
  RATE_LIMITED: {
    http: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    message: 'This caller has sent {what} faster than it may. Nothing was stored.',
    remedy: 'Send the request again after the time in "Retry-After", and fewer at a time.',
  },
  TASK_NOT_RETRYABLE: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Task {task} cannot be retried: {reason}.',
    remedy:
      'Only a task that failed, or waits for its next attempt, can be retried. Look at its state and at its attempts; one whose run is closing, once that has ended.',
  },
  LETTER_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no dead letter {letter}.',
    remedy: 'List dead letters and use an id from there. Closed ones are removed after a time.',
  },
  LETTER_CLOSED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Dead letter {letter} is no longer open: {reason}.',
    remedy:
      'A letter is used once. Look at the run that it was replayed in; retry the task there if it should run again.',
  },
  BREAKER_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no open breaker {breaker}.',
    remedy: 'List breakers: one that has closed by itself is not there any more.',
  },
  TASK_BUSY: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Still running, and not changed without force: {reason}.',
    remedy: 'Wait for it to end, or set "force" to true: its attempt is stopped then, and its result is not recorded.',
  },
  TASK_OUTSIDE_RUN: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Not part of this run: {reason}.',
    remedy: 'The run goes up to a chosen task only. Submit another run, with a later task as "until" or without it.',
  },
  UNTIL_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'A run of {dag} cannot go up to there: {reason}.',
    remedy: 'Name a task or a group of the dag; a mapped task by its own name, not by one of its instances.',
  },
  TASK_ENDED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'What has ended is not cancelled: {reason}.',
    remedy: 'Clear the task to have it run again, or mark it as something else.',
  },
  TOO_MANY_TASKS: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'More than {reason} tasks of one run are not touched in one go.',
    remedy: 'Choose fewer of them, by name or by state, and then the next ones.',
  },
  OUTPUT_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'A task cannot have this output. {reason}.',
    remedy: 'Give it an output such as the task itself would return.',
  },
  RUN_CLOSING: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: true,
    message: 'Run {run} is closing: what still runs of it is being ended.',
    remedy: 'Ask again when it has ended.',
  },
  RUN_WOULD_CLOSE: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Under fail_fast run {run} would close again at once, because of {reason}.',
    remedy: 'Clear or mark these tasks as well: all that failed at once with the states failed and cancelled.',
  },
  OVERLOADED: {
    http: 503,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    message: 'The server has more requests than it can take. Nothing was stored.',
    remedy: 'Send the request again after the time in "Retry-After".',
  },
  UNAVAILABLE: {
    http: 503,
    grpc: 'UNAVAILABLE',
    retryable: true,
    message: 'The request cannot be served at this moment: {reason}. Nothing was stored.',
    remedy: 'Send the request again after the time in "Retry-After".',
  },
  UNKNOWN_OUTCOME: {
    http: 504,
    grpc: 'DEADLINE_EXCEEDED',
    retryable: true,
    message: 'The request may or may not have been done: its outcome did not become known in time.',
    remedy:
      'Send it again with the same idempotency key: the answer tells what became of it, and it is never done twice.',
  },
  INTERNAL: {
    http: 500,
    grpc: 'INTERNAL',
    retryable: false,
    message: 'The server met a fault of its own.',
    remedy: 'Report it with the id {incident}, under which the server has logged it.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}

/** One fault in what was sent, with its place: `tasks[3].needs[0]`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export interface ErrorDetails {
  readonly problems?: readonly Problem[];
  /** When it is worth asking again. */
  readonly retryAfterMs?: number;
  /** What fills the braces of the message and the remedy. */
  readonly [name: string]: string | number | readonly Problem[] | undefined;
}

/** Body of an answer with an error, `application/problem+json` (RFC 9457). */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly remedy: string;
  readonly problems?: readonly Problem[];
  readonly retryAfterMs?: number;
}

const LONGEST_DETAIL = 200;

/** What callers sent comes back cut short and without control characters, so that it can't forge lines of a log (I69). */
function shown(value: string | number | readonly Problem[] | undefined, name: string): string {
  if (value === undefined || typeof value === 'object') return name;
  const printable = String(value).replace(/[\p{Cc}\u2028\u2029]/gu, '\u{fffd}');
  return printable.length > LONGEST_DETAIL ? `${printable.slice(0, LONGEST_DETAIL)}…` : printable;
}

const filled = (template: string, details: ErrorDetails): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => shown(details[name], name));

/** The code as a sentence's beginning: `Stale token`. */
const titleOf = (code: ErrorCode): string => code[0] + code.slice(1).toLowerCase().replaceAll('_', ' ');

/** @example problem('RUN_NOT_FOUND', { run: uid }) */
export function problem(code: ErrorCode, details: ErrorDetails = {}): ProblemBody {
  const entry: ErrorEntry = ERRORS[code];
  return {
    type: `urn:signalbox:error:${code.toLowerCase()}`,
    title: titleOf(code),
    status: entry.http,
    detail: filled(entry.message, details),
    code,
    retryable: entry.retryable,
    remedy: filled(entry.remedy, details),
    ...(details.problems === undefined ? {} : { problems: details.problems }),
    ...(details.retryAfterMs === undefined ? {} : { retryAfterMs: details.retryAfterMs }),
  };
}

/** A refusal on its way to whoever asked. Its message is for people; programs look at `code`. */
export class SignalboxError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    const body = problem(code, details);
    const places = (details.problems ?? []).slice(0, 5).map(({ path, message }) => `${path} ${message}`);
    super(places.length === 0 ? body.detail : `${body.detail} ${places.join('; ')}`, options);
    this.name = 'SignalboxError';
    this.code = code;
    this.details = details;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  body(): ProblemBody {
    return problem(this.code, this.details);
  }
}

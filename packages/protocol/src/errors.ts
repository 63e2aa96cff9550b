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
    message: 'The request has no valid credential.',
    remedy: 'Send the header "Authorization: Bearer <token>" with a token that has not been revoked.',
  },
  WEBHOOK_REFUSED: {
    http: 401,
    grpc: 'UNAUTHENTICATED',
    retryable: false,
    message: 'No webhook at this address accepts the call.',
    remedy:
      'Check the address, the scheme and the secret of the webhook, and that the payload is signed exactly as it is sent. A signed time may differ from the clock of the server by 5 minutes.',
  },
  FORBIDDEN: {
    http: 403,
    grpc: 'PERMISSION_DENIED',
    retryable: false,
    message: 'Your credential does not allow you to {action}.',
    remedy: 'Use a credential with a role that allows it, or ask an administrator.',
  },
  BAD_REQUEST: {
    http: 400,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The request is invalid.',
    remedy: 'Fix the fields listed under "problems" and send it again.',
  },
  PARAMS_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The params do not match the params schema of dag {dag}.',
    remedy: 'Fix the fields listed under "problems". The dag shows its JSON Schema under "params".',
  },
  DAG_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Dag {dag} does not exist.',
    remedy: 'Check the name, or deploy the dag first.',
  },
  RUN_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Run {run} does not exist.',
    remedy: 'Check the id. Runs are removed after the retention period.',
  },
  JOB_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Job {job} does not exist.',
    remedy: 'Check the id. Jobs that have run are removed with their runs after the retention period.',
  },
  TASK_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'This run has no task {task}.',
    remedy: 'Get the run to see its tasks. A run keeps the version of the dag that it started with.',
  },
  CALLBACK_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Run {run} has no callbacks.',
    remedy:
      'A callback is sent when a run of a dag with a callbackUrl ends. It is removed a week after the receiver answered.',
  },
  BUNDLE_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Bundle {bundle} does not exist.',
    remedy: 'Upload the bundle first. A bundle that no version uses is removed a day after its last upload.',
  },
  SCHEDULE_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Dag {dag} has no schedule {reason}.',
    remedy:
      'List its schedules with "signalbox schedules list --dag {dag}". Deploy the dag with a schedule, or create one.',
  },
  TOKEN_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Token {token} does not exist or is no longer valid.',
    remedy: 'List the tokens to see their names and which are revoked.',
  },
  ASSET_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Asset {asset} was never produced, and no dag waits for it.',
    remedy: 'List the assets to see their names.',
  },
  FREEZE_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: '{target} is not frozen.',
    remedy: 'List the freezes to see what is frozen.',
  },
  RESERVATION_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Reservation {reservation} does not exist, or another tenant made it.',
    remedy: 'List the reservations to see their ids.',
  },
  BUDGET_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no budget {target}.',
    remedy: 'List the budgets to see those that are set.',
  },
  LIMIT_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Limit {limit} is not set.',
    remedy: 'List the limits to see those that are set.',
  },
  QUOTA_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'The tenant has no quota {quota}.',
    remedy: 'List the quotas of the tenant to see those that are set.',
  },
  LIMIT_OF_QUOTA: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'This cap is that of a quota of the tenant.',
    remedy: 'Change the quota "tasks" of the tenant instead.',
  },
  TENANT_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Tenant {tenant} does not exist.',
    remedy: 'List the tenants to see their names.',
  },
  TENANT_SUSPENDED: {
    http: 403,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Tenant {tenant} is suspended: it can read, and change nothing.',
    remedy: 'Ask the administrators of the installation to resume it.',
  },
  WEBHOOK_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Webhook {webhook} does not exist.',
    remedy: 'List the webhooks to see their ids.',
  },
  VERSION_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Dag {dag} has no version {version}.',
    remedy: 'List the versions of the dag.',
  },
  ATTEMPT_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Task {task} has no attempt {attempt}.',
    remedy: 'List the attempts of the task to see their numbers. "last" is the newest.',
  },
  WORKER_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'No worker {worker} is connected.',
    remedy: 'List the workers to see which are connected, and to which server.',
  },
  EVENTS_EXPIRED: {
    http: 410,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Events after this cursor have been removed from the journal.',
    remedy: 'Read the current state, then follow again from now or from the oldest event that is kept.',
  },
  ROUTE_NOT_FOUND: {
    http: 404,
    grpc: 'UNIMPLEMENTED',
    retryable: false,
    message: 'This route does not exist.',
    remedy: 'Check the method and path in the API reference.',
  },
  IDEMPOTENCY_CONFLICT: {
    http: 409,
    grpc: 'ALREADY_EXISTS',
    retryable: false,
    message: 'The idempotency key {key} was already used with a different body.',
    remedy: 'Send the first body again to get its answer, or use a new key for a new request.',
  },
  RUN_ID_TAKEN: {
    http: 409,
    grpc: 'ALREADY_EXISTS',
    retryable: false,
    message: 'The run id {run} was already used for another run.',
    remedy: 'Repeat the first request to get its answer, or use a new id for a new run.',
  },
  RUN_KEY_TAKEN: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'No run was created: key {key} has as many runs as the dag allows.',
    remedy:
      'Wait until a run with the key has ended and submit again, or set "onFull: queue" under "concurrency" of the dag, so that runs wait.',
  },
  RUN_TIME_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The run cannot begin at that time: {reason}.',
    remedy: 'Give a time in the future, before 2088, or a delay such as 10m.',
  },
  RUN_ENDED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} has ended.',
    remedy: 'An ended run cannot be changed this way. Submit a new run instead.',
  },
  RUN_SCHEDULED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} has not begun: it is scheduled for {at}. Its priority cannot be changed before that.',
    remedy: 'Cancel it and submit it again with the priority, or change the priority when it has begun.',
  },
  RUN_OF_BACKFILL: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} was created by a backfill. Its tasks wait in the lane of backfills, whatever their priority.',
    remedy: 'Give the backfill a larger share when you start it ("share"), or start the run of its window by hand.',
  },
  RUN_SET_ASIDE: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} is set aside: scheduling it failed with an internal error.',
    remedy: 'Report a bug with the reason that the run shows. Submit a new run if you need its result now.',
  },
  STALE_TOKEN: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'This attempt no longer owns task {task}.',
    remedy: 'Stop the attempt. Its result is not recorded. Get the task to see which attempt owns it.',
  },
  EXTEND_REFUSED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'The attempt was not extended: {reason}.',
    remedy: 'Report progress before you ask for more time, or give the task a longer timeout.',
  },
  ADD_REFUSED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'The tasks were not added: {reason}.',
    remedy: 'Fix the tasks and add them again. None of the tasks of this call was added.',
  },
  DAG_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The definition of dag {dag} is invalid.',
    remedy: 'Fix the fields listed under "problems" and deploy again. The deployed version is unchanged.',
  },
  BUNDLE_MISMATCH: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The upload does not match bundle {bundle}: its SHA-256 is {actual}. Nothing was stored.',
    remedy: 'Upload exactly the bytes that you hashed. The hash covers the code only and has 64 lower-case hex digits.',
  },
  SCHEDULE_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The schedule is invalid: {reason}.',
    remedy: 'Correct what the message names. "signalbox next" shows when a schedule would fire.',
  },
  SCHEDULE_EXISTS: {
    http: 409,
    grpc: 'ALREADY_EXISTS',
    retryable: false,
    message: 'Dag {dag} has a schedule {reason} already.',
    remedy:
      'Choose another name. Edit or delete a schedule that was created through the API; rename one of the definition.',
  },
  SCHEDULE_OF_DEFINITION: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Schedule {reason} belongs to the definition of dag {dag}, so only a deploy can change or delete it.',
    remedy: 'Change the file of the dag and deploy it. To stop the schedule for a while, pause it.',
  },
  TOO_MANY_SCHEDULES: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Dag {dag} has more than {reason} schedules, which is too many for one request.',
    remedy: 'Pause or delete its schedules one by one first.',
  },
  TOO_MANY_LIMITS: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Your tenant has {reason}, which is the most it can have.',
    remedy: 'Remove limits that nothing uses, or use the name of one that was removed.',
  },
  TOO_MANY_FREEZES: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Your tenant has {reason} freezes of dags, queues and workers, which is the most it can have.',
    remedy: 'Thaw what need not be frozen, such as workers that are gone, or freeze the tenant.',
  },
  TOO_MANY_RESERVATIONS: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Your tenant has {reason}, which is the most it can have.',
    remedy: 'Delete reservations that are over, or reserve for the same dag and queues as before.',
  },
  TOO_LARGE: {
    http: 413,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: false,
    message: '{what} is larger than the limit of {limit}.',
    remedy: 'Send less data at a time, or store it elsewhere and pass a reference.',
  },
  BUNDLE_TOO_LARGE: {
    http: 413,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: false,
    message: 'A bundle and its source map can have at most {limit} bytes each.',
    remedy: 'Keep data out of the code. Read it from a file or a URL when the task runs.',
  },
  UNKNOWN_FORMAT: {
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Message format {format} is not supported; this side supports {known}.',
    remedy: 'Upgrade the older of the two sides.',
  },
  WRONG_HOST: {
    http: 421,
    grpc: 'PERMISSION_DENIED',
    retryable: false,
    message: 'This server does not accept requests for host {host}, or from this origin.',
    remedy: 'Use the address that the server printed when it started, or add the name to its allowed hosts.',
  },
  RATE_LIMITED: {
    http: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    message: 'Too many {what}: the rate limit is reached. Nothing was stored.',
    remedy: 'Retry after the time in "Retry-After", and send fewer at a time.',
  },
  LOAD_SHED: {
    http: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    message: 'The server has too much to do for submissions of priority {priority}. Nothing was stored.',
    remedy: 'Retry after the time in "Retry-After". A higher priority is refused later.',
  },
  QUOTA_EXCEEDED: {
    http: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    message: 'The quota {quota} is used up: {used} of {hard} {what}. Nothing was stored.',
    remedy: 'Retry after the time in "Retry-After", or ask those who run the installation for a raise.',
  },
  TASK_NOT_RETRYABLE: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Task {task} cannot be retried: {reason}.',
    remedy:
      'You can retry a task that failed or waits for its next attempt. If its run is closing, wait until it has ended.',
  },
  DEAD_LETTER_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Dead letter {letter} does not exist.',
    remedy: 'List the dead letters and use an id from there. Closed dead letters are removed after a while.',
  },
  DEAD_LETTER_CLOSED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Dead letter {letter} is no longer open: {reason}.',
    remedy: 'A dead letter can be replayed once. Look at the run that it was replayed in, and retry the task there.',
  },
  BREAKER_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'Breaker {breaker} is not open.',
    remedy: 'List the breakers. A breaker that closed by itself is not listed.',
  },
  BACKFILL_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    message: 'There is no backfill {backfill}.',
    remedy: 'List the backfills of the dag to see their ids.',
  },
  BACKFILL_ENDED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Backfill {backfill} is over: {reason}.',
    remedy: 'Start another backfill. With "missing" it creates only the runs that are not there yet.',
  },
  BACKFILL_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'Invalid backfill of dag {dag}: {reason}.',
    remedy: 'Correct the request. A dry run lists the windows without creating a run.',
  },
  WINDOW_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'Dag {dag} can have no run for the window {window}: {reason}.',
    remedy: 'Give a past time at which the schedule fires. A dry run of a backfill lists them.',
  },
  TASK_BUSY: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Still running, so it was not changed: {reason}.',
    remedy: 'Wait until it ends, or set "force" to true. That stops its attempt and discards its result.',
  },
  TASK_OUTSIDE_RUN: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Not part of this run: {reason}.',
    remedy:
      'This run has "until" and stops at the chosen task. Submit another run with a later task, or without "until".',
  },
  UNTIL_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'Invalid "until" for dag {dag}: {reason}.',
    remedy:
      'Use the name of a task or group of the dag. For a mapped task, use its own name, not the name of an instance.',
  },
  TASK_ENDED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Already ended, so it cannot be cancelled: {reason}.',
    remedy: 'Clear the task to run it again, or mark it with another state.',
  },
  TOO_MANY_TASKS: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'You can change at most {reason} tasks of one run in one request.',
    remedy: 'Select fewer tasks, by name or by state, then do the rest.',
  },
  OUTPUT_INVALID: {
    http: 422,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    message: 'The output is invalid. {reason}.',
    remedy: 'Use an output that the task itself could return.',
  },
  RUN_CLOSING: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: true,
    message: 'Run {run} is closing: its running attempts are being stopped.',
    remedy: 'Try again when it has ended.',
  },
  RUN_WOULD_CLOSE: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    message: 'Run {run} has fail_fast and would close again at once because of {reason}.',
    remedy: 'Clear or mark these tasks too. To select all of them, use the states failed and cancelled.',
  },
  OVERLOADED: {
    http: 503,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    message: 'The server is overloaded. Nothing was stored.',
    remedy: 'Retry after the time in "Retry-After".',
  },
  UNAVAILABLE: {
    http: 503,
    grpc: 'UNAVAILABLE',
    retryable: true,
    message: 'The server cannot handle the request right now: {reason}. Nothing was stored.',
    remedy: 'Retry after the time in "Retry-After".',
  },
  UNKNOWN_OUTCOME: {
    http: 504,
    grpc: 'DEADLINE_EXCEEDED',
    retryable: true,
    message: 'The server did not learn the outcome in time. The request may or may not have taken effect.',
    remedy: 'Send it again with the same idempotency key. You get the outcome, and it never takes effect twice.',
  },
  INTERNAL: {
    http: 500,
    grpc: 'INTERNAL',
    retryable: false,
    message: 'Internal server error.',
    remedy: 'Report it with the incident id {incident}. The log of the server has the details.',
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
  /** For the compiler, which adds advice. Answers to callers leave it out: see `problem`. */
  readonly cause?: ProblemCause;
}

/** Why a definition is refused, where advice can be given about it. */
export type ProblemCause =
  | { readonly code: 'unknown_task' | 'unknown_group' | 'unknown_field'; readonly name: string }
  /** The fields of one task that say what it does: none, or several where one is allowed. */
  | { readonly code: 'work_not_one'; readonly fields: readonly string[] }
  | { readonly code: 'task_name_taken' | 'invalid_format' | 'cycle' };

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

const withoutCause = ({ path, message }: Problem): Problem => ({ path, message });

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
    ...(details.problems === undefined ? {} : { problems: details.problems.map(withoutCause) }),
    ...(details.retryAfterMs === undefined ? {} : { retryAfterMs: details.retryAfterMs }),
  };
}

/** A refusal. Its message is for people; programs look at `code`. */
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

/**
 * The states of a task: all that is to know of each is in its row of this table. Lists, flags and pages are made from it.
 *
 *   blocked ──── its rule says so ───▶ ready ── claim ──▶ running ──▶ succeeded | failed
 *      │                              ▲  ▲                │ │ │
 *      │                              │  └─ returned ─────┘ │ └──▶ cancelled
 *      ▼                              └──── retrying ◀──────┘
 *   upstream_failed | skipped | cancelled, or failed: its condition has no answer. In a mapped group: expanded, and from there
 *   what its instances come to; or succeeded at once, for a map without items.
 *
 * One that waits for too long goes from ready or retrying to failed, without another attempt.
 *
 * A task that runs another dag goes from ready to waiting, and on from there as from running.
 *
 * Back to blocked goes only what somebody clears or marks by hand, and what was decided because of it (I32).
 */

/** What a task counts as for those that need it. `open`: not ended. `nothing`: cancelled with its run, it decides nothing. */
type CountsAs = 'open' | 'succeeded' | 'failed' | 'upstream_failed' | 'skipped' | 'nothing';

interface TaskStateRow {
  /** In the columns of the task table. */
  readonly code: number;
  /** What people see. */
  readonly shown: string;
  /** For `docs/reference/states.md`. */
  readonly meaning: string;
  readonly isTerminal: boolean;
  /** An attempt of it is claimed, and has not ended. */
  readonly holdsClaim: boolean;
  /** A worker runs it. */
  readonly holdsSlot: boolean;
  /** It waits for an attempt: when its run is closed it is cancelled, unless it closes the run. */
  readonly awaitsAttempt: boolean;
  /** Nothing upstream holds it, and no attempt of it is claimed. */
  readonly isDue: boolean;
  /** It has failed and will be tried again. */
  readonly awaitsRetry: boolean;
  readonly countsAs: CountsAs;
  /** It was given up: a retry by hand is for it, and it may leave a dead letter. */
  readonly isGivenUp: boolean;
  /** The moves that `apply` allows, by the keys of this table. */
  readonly moves: readonly string[];
}

const OPEN = {
  isTerminal: false,
  holdsClaim: false,
  holdsSlot: false,
  awaitsAttempt: false,
  isDue: false,
  awaitsRetry: false,
  countsAs: 'open',
  isGivenUp: false,
} as const;
const AWAITING = { ...OPEN, awaitsAttempt: true } as const;
const CLAIMED = { ...OPEN, holdsClaim: true } as const;
const ENDED = { ...OPEN, isTerminal: true } as const;

const TABLE = {
  blocked: {
    code: 0,
    shown: 'blocked',
    ...AWAITING,
    meaning: 'waits for tasks that it needs',
    // To succeeded: its map is empty, or somebody says so.
    moves: ['ready', 'expanded', 'succeeded', 'failed', 'upstream_failed', 'cancelled', 'skipped', 'stopped'],
  },
  ready: {
    code: 1,
    shown: 'ready',
    ...AWAITING,
    isDue: true,
    meaning: 'can start; waits for a free slot and for limits',
    // To retrying where a breaker holds it back.
    moves: ['blocked', 'running', 'waiting', 'retrying', 'failed', 'cancelled'],
  },
  running: {
    code: 2,
    shown: 'running',
    ...CLAIMED,
    holdsSlot: true,
    meaning: 'an attempt is assigned to a worker',
    moves: ['ready', 'retrying', 'succeeded', 'failed', 'cancelled'],
  },
  retrying: {
    code: 3,
    shown: 'retrying',
    ...AWAITING,
    isDue: true,
    awaitsRetry: true,
    meaning: 'its last attempt failed; the next one starts after the backoff',
    // Straight to running in a replay, which has no timers.
    moves: ['blocked', 'ready', 'running', 'waiting', 'failed', 'cancelled'],
  },
  /** Parked without a worker: another run must end first. */
  waiting: {
    code: 4,
    shown: 'waiting',
    ...CLAIMED,
    meaning: 'it runs another dag and waits for that run to end; it uses no worker and no slot',
    moves: ['ready', 'retrying', 'succeeded', 'failed', 'cancelled'],
  },
  expanded: {
    code: 5,
    shown: 'expanded',
    ...OPEN,
    meaning: 'a mapped task whose instances exist, until the last one has ended; then it shows their combined result',
    moves: ['blocked', 'succeeded', 'failed', 'upstream_failed', 'cancelled', 'skipped'],
  },
  succeeded: {
    code: 6,
    shown: 'succeeded',
    ...ENDED,
    countsAs: 'succeeded',
    meaning: 'an attempt succeeded; for a mapped task: all instances succeeded, or there are none',
    // To expanded: an instance is decided anew, as below.
    moves: ['blocked', 'expanded'],
  },
  failed: {
    code: 7,
    shown: 'failed',
    ...ENDED,
    countsAs: 'failed',
    isGivenUp: true,
    meaning:
      'an attempt failed permanently, retries are used up, or a timeout passed; or its condition cannot be evaluated, or its map has no list or too many items',
    moves: ['blocked', 'expanded'],
  },
  upstream_failed: {
    code: 8,
    shown: 'upstream_failed',
    ...ENDED,
    countsAs: 'upstream_failed',
    meaning: 'tasks that it needs failed, so it will not run',
    moves: ['blocked', 'expanded'],
  },
  cancelled: {
    code: 9,
    shown: 'cancelled',
    ...ENDED,
    countsAs: 'nothing',
    meaning: 'it was cancelled alone, which counts as a failure; or its run was cancelled or closed before it ended',
    // To ready: a claim came back after its run was closed, and the run is open again. To retrying: a closing task after a force.
    moves: ['blocked', 'ready', 'retrying', 'expanded'],
  },
  skipped: {
    code: 10,
    shown: 'skipped',
    ...ENDED,
    countsAs: 'skipped',
    meaning: 'its trigger rule, its condition, a branch or a short circuit decided that it does not run',
    moves: ['blocked', 'expanded'],
  },
  /** Cancelled by itself, while its run goes on: one state with `cancelled` for people. */
  stopped: {
    code: 11,
    shown: 'cancelled',
    ...ENDED,
    countsAs: 'failed',
    meaning: '',
    moves: ['blocked'],
  },
} as const satisfies Record<string, TaskStateRow>;

/** The states inside the engine. */
type StateName = keyof typeof TABLE;

/** By code. */
export const TASK_STATE_KEYS: readonly string[] = Object.keys(TABLE);
export const TASK_STATE_ROWS: readonly TaskStateRow[] = Object.values(TABLE);

export const BLOCKED = TABLE.blocked.code;
export const READY = TABLE.ready.code;
export const RUNNING = TABLE.running.code;
export const RETRYING = TABLE.retrying.code;
export const WAITING = TABLE.waiting.code;
export const EXPANDED = TABLE.expanded.code;
export const SUCCEEDED = TABLE.succeeded.code;
export const FAILED = TABLE.failed.code;
export const UPSTREAM_FAILED = TABLE.upstream_failed.code;
export const CANCELLED = TABLE.cancelled.code;
export const SKIPPED = TABLE.skipped.code;
export const STOPPED = TABLE.stopped.code;

/** The states that people see. */
export type TaskState = (typeof TABLE)[StateName]['shown'];
type TerminalName = { [Name in StateName]: (typeof TABLE)[Name]['isTerminal'] extends true ? Name : never }[StateName];
export type TaskOutcome = (typeof TABLE)[TerminalName]['shown'];

/** What people see of a state, by its code. */
export const TASK_STATE_NAMES = TASK_STATE_ROWS.map(({ shown }) => shown as TaskState);
export const TASK_STATES: readonly TaskState[] = [...new Set(TASK_STATE_NAMES)];

/** 1 where it holds, by code: as quick to ask as a comparison. */
function flags(holds: (row: TaskStateRow) => boolean): Uint8Array {
  return Uint8Array.from(TASK_STATE_ROWS, (row) => (holds(row) ? 1 : 0));
}

export const IS_TERMINAL = flags(({ isTerminal }) => isTerminal);
export const HOLDS_CLAIM = flags(({ holdsClaim }) => holdsClaim);
export const AWAITS_ATTEMPT = flags(({ awaitsAttempt }) => awaitsAttempt);
export const IS_DUE = flags(({ isDue }) => isDue);
export const AWAITS_RETRY = flags(({ awaitsRetry }) => awaitsRetry);
/** It decides something for those that need it. A cancelled one was stopped when its run was closed, and decides nothing. */
export const HAS_ENDED = flags(({ countsAs }) => countsAs !== 'open' && countsAs !== 'nothing');
/** The code of the ended state that it counts as; of one that has not ended, its own. */
export const COUNTS_AS = Uint8Array.from(TASK_STATE_ROWS, ({ code, countsAs }) =>
  countsAs === 'open' ? code : TABLE[countsAs === 'nothing' ? 'cancelled' : countsAs].code,
);
/** It failed by itself. */
export const COUNTS_AS_FAILED = flags(({ countsAs }) => countsAs === 'failed');
/** It failed, and was given up; one that somebody stopped was not. */
export const IS_GIVEN_UP = flags(({ isGivenUp }) => isGivenUp);
/** It failed, or what it needs did. */
export const IS_FAILURE = flags(({ countsAs }) => countsAs === 'failed' || countsAs === 'upstream_failed');

const SIZE = TASK_STATE_ROWS.length;
const MOVES = new Uint8Array(SIZE * SIZE);
for (const { code, moves } of TASK_STATE_ROWS) {
  for (const to of moves) MOVES[code * SIZE + TABLE[to as StateName].code] = 1;
}

export function mayMove(from: number, to: number): boolean {
  return MOVES[from * SIZE + to] === 1;
}

const TERMINAL: ReadonlySet<TaskState> = new Set(TASK_STATE_NAMES.filter((_, code) => IS_TERMINAL[code] === 1));

export function isTerminal(state: TaskState): state is TaskOutcome {
  return TERMINAL.has(state);
}

interface TaskRowState {
  /** What a task is that has such a row. */
  readonly state: StateName;
  /** It decides something for those that need it. */
  readonly decides?: true;
  /** Behind the last attempt there was, or is to be, another. */
  readonly isFollowed?: true;
}

/**
 * What the row of a task says, in the order of their codes in the database: new ones come last. A task without a row is what its
 * upstream makes of it.
 */
const ROWS = {
  running: { state: 'running' },
  /** The claim never began and went back. */
  returned: { state: 'ready' },
  /** Ended, and goes on at `retryAt`. */
  retrying: { state: 'retrying', isFollowed: true },
  succeeded: { state: 'succeeded', decides: true },
  failed: { state: 'failed', decides: true },
  cancelled: { state: 'cancelled' },
  /** Ended, and somebody wants another attempt, or it has no more than notes yet: its upstream says what it is. */
  cleared: { state: 'blocked', isFollowed: true },
  /** Somebody said so. */
  skipped: { state: 'skipped', decides: true },
  stopped: { state: 'stopped', decides: true },
  /** It failed while no attempt ran. */
  expired: { state: 'failed', decides: true, isFollowed: true },
} as const satisfies Record<string, TaskRowState>;

export type StoredTaskState = keyof typeof ROWS;
export const STORED_TASK_STATES = Object.keys(ROWS) as readonly StoredTaskState[];

export function stateOfRow(row: StoredTaskState): number {
  return TABLE[ROWS[row].state].code;
}

export function rowDecides(row: StoredTaskState): boolean {
  return 'decides' in ROWS[row];
}

export function isFollowedRow(row: StoredTaskState): boolean {
  return 'isFollowed' in ROWS[row];
}

/**
 * The states of a task that people see, and how each looks: on the web a word, a tone, a shape and a letter, in a terminal a
 * sign and a colour. The API tells a state by its place here, so new ones come last.
 */
export interface TaskStateLook {
  /** The task stays in it, unless somebody clears or marks it. */
  readonly isTerminal: boolean;
  readonly word: string;
  readonly tone: 'ok' | 'bad' | 'busy' | 'warn' | 'idle' | 'odd';
  readonly shape:
    | 'check'
    | 'cross'
    | 'ring'
    | 'again'
    | 'hollow'
    | 'dotted'
    | 'pause'
    | 'arrow'
    | 'triangle'
    | 'slash'
    | 'stack';
  /** For grids and lists in which one letter has to do. */
  readonly letter: string;
  readonly sign: string;
  readonly colour: 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'plain';
  /** What a person wants to see first has the lowest. */
  readonly rank: number;
}

const open = (look: Omit<TaskStateLook, 'isTerminal'>) => ({ ...look, isTerminal: false }) as const;
const ended = (look: Omit<TaskStateLook, 'isTerminal'>) => ({ ...look, isTerminal: true }) as const;

export const TASK_STATE_LOOKS = {
  blocked: open({ word: 'Blocked', tone: 'idle', shape: 'dotted', letter: 'b', sign: '·', colour: 'plain', rank: 8 }),
  ready: open({ word: 'Ready', tone: 'warn', shape: 'hollow', letter: 'q', sign: '·', colour: 'plain', rank: 5 }),
  running: open({ word: 'Running', tone: 'busy', shape: 'ring', letter: 'r', sign: '▶', colour: 'cyan', rank: 1 }),
  retrying: open({ word: 'Retrying', tone: 'warn', shape: 'again', letter: 'a', sign: '↻', colour: 'yellow', rank: 2 }),
  waiting: open({ word: 'Waiting', tone: 'odd', shape: 'pause', letter: 'w', sign: '…', colour: 'plain', rank: 4 }),
  expanded: open({ word: 'Mapped', tone: 'busy', shape: 'stack', letter: 'm', sign: '▶', colour: 'plain', rank: 3 }),
  succeeded: ended({
    ...{ word: 'Succeeded', tone: 'ok', shape: 'check', letter: 's' },
    ...{ sign: '✔', colour: 'green', rank: 10 },
  }),
  failed: ended({ word: 'Failed', tone: 'bad', shape: 'cross', letter: 'f', sign: '✖', colour: 'red', rank: 0 }),
  upstream_failed: ended({
    ...{ word: 'Upstream failed', tone: 'bad', shape: 'triangle', letter: 'u' },
    ...{ sign: '✖', colour: 'red', rank: 7 },
  }),
  skipped: ended({ word: 'Skipped', tone: 'idle', shape: 'arrow', letter: 'k', sign: '⊘', colour: 'dim', rank: 9 }),
  cancelled: ended({
    ...{ word: 'Cancelled', tone: 'idle', shape: 'slash', letter: 'x' },
    ...{ sign: '■', colour: 'yellow', rank: 6 },
  }),
} as const satisfies Readonly<Record<string, TaskStateLook>>;

type Looks = typeof TASK_STATE_LOOKS;
export type TaskState = keyof Looks;
type TerminalTaskState = { [Name in TaskState]: Looks[Name]['isTerminal'] extends true ? Name : never }[TaskState];

export const TASK_STATES = Object.keys(TASK_STATE_LOOKS) as readonly TaskState[];
export const TERMINAL_TASK_STATES = TASK_STATES.filter(
  (state): state is TerminalTaskState => TASK_STATE_LOOKS[state].isTerminal,
);

/** What a person wants to see first comes first. */
export const TASK_STATES_BY_RANK: readonly TaskState[] = [...TASK_STATES].sort(
  (a, b) => TASK_STATE_LOOKS[a].rank - TASK_STATE_LOOKS[b].rank,
);

/** Undefined for a state of a newer server. */
export function taskStateLook(state: string): TaskStateLook | undefined {
  return (TASK_STATE_LOOKS as Readonly<Record<string, TaskStateLook>>)[state];
}

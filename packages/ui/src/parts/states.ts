/** How states look and read: a word, a tone and a shape each, so that nobody needs colours to tell them apart. */
import {
  TASK_STATE_LOOKS,
  TASK_STATES_BY_RANK,
  type TaskStateLook,
  TERMINAL_TASK_STATES,
} from '@signalbox/protocol/words';

export type Tone = TaskStateLook['tone'];
/** Those of task states, and those that only runs, maps and workers have. */
export type Shape = TaskStateLook['shape'] | 'minus' | 'half' | 'diamond';

export interface Look {
  readonly word: string;
  readonly tone: Tone;
  readonly shape: Shape;
  /** For grids and lists in which one letter has to do. */
  readonly letter: string;
}

const LOOKS: Readonly<Record<string, Look>> = {
  ...TASK_STATE_LOOKS,
  open: { word: 'Running', tone: 'busy', shape: 'ring', letter: 'r' },
  closing: { word: 'Closing', tone: 'busy', shape: 'half', letter: 'c' },
  scheduled: { word: 'Scheduled', tone: 'odd', shape: 'hollow', letter: 'e' },
  queued: { word: 'Queued', tone: 'idle', shape: 'hollow', letter: 'q' },
  removed: { word: 'Removed', tone: 'idle', shape: 'minus', letter: 'd' },
  set_aside: { word: 'Set aside', tone: 'bad', shape: 'diamond', letter: 'z' },
  paused: { word: 'Paused', tone: 'warn', shape: 'pause', letter: 'p' },
  // What happens to attempts.
  started: { word: 'Started', tone: 'busy', shape: 'arrow', letter: 'r' },
  transient: { word: 'Failed', tone: 'bad', shape: 'cross', letter: 'f' },
  permanent: { word: 'Failed for good', tone: 'bad', shape: 'cross', letter: 'f' },
  timeout: { word: 'Timed out', tone: 'bad', shape: 'cross', letter: 'f' },
  lost: { word: 'Lost', tone: 'bad', shape: 'diamond', letter: 'f' },
  resource: { word: 'Out of resources', tone: 'bad', shape: 'cross', letter: 'f' },
  stuck: { word: 'Stuck', tone: 'bad', shape: 'cross', letter: 'f' },
};

export function lookOf(state: string): Look {
  return LOOKS[state] ?? { word: state.replaceAll('_', ' '), tone: 'idle', shape: 'hollow', letter: '?' };
}

/** What a run is, in one word: its outcome once that is fixed. */
export function runState(run: {
  readonly state: string;
  readonly outcome: string | null;
  readonly paused?: unknown;
}): string {
  if (run.state === 'ended') return run.outcome ?? 'ended';
  return run.paused == null || run.state === 'set_aside' ? run.state : 'paused';
}

const ENDED: ReadonlySet<string> = new Set(TERMINAL_TASK_STATES);
export const isEnded = (state: string): boolean => ENDED.has(state);

/** Those that want attention first. */
const ORDER: readonly string[] = TASK_STATES_BY_RANK;
export function rankOf(state: string): number {
  const at = ORDER.indexOf(state);
  return at < 0 ? ORDER.length : at;
}

/** Runs as the server shows them, for tests of what is made of them. */
import type { RunView, TaskView } from '@signalbox/sdk';

export const RUN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const AT = '2026-01-01T00:00:00.000Z';

export function taskView(name: string, state: TaskView['state'], more: Partial<TaskView> = {}): TaskView {
  const isBegun = !['blocked', 'ready', 'upstream_failed'].includes(state);
  return {
    name,
    group: null,
    map: [],
    instances: null,
    addedBy: null,
    role: 'task',
    state,
    attempt: isBegun ? 1 : 0,
    worker: null,
    claimedAt: isBegun ? AT : null,
    startedAt: isBegun ? AT : null,
    endedAt: state === 'succeeded' || state === 'failed' ? AT : null,
    retryAt: null,
    slowAt: null,
    outcome: state === 'succeeded' ? state : state === 'failed' ? 'transient' : null,
    code: null,
    fingerprint: null,
    heldBy: null,
    deadLetter: null,
    error: state === 'failed' ? 'Error: it broke' : null,
    output: null,
    child: null,
    outputBytes: null,
    attempts: [],
    reason: null,
    paused: null,
    why: null,
    cleared: null,
    marked: null,
    ...more,
  };
}

export function runView(tasks: readonly TaskView[], more: Partial<RunView> = {}): RunView {
  return {
    id: RUN_ID,
    dag: 'demo',
    version: 1,
    state: 'open',
    outcome: null,
    priority: 'normal',
    cause: 'api',
    window: null,
    windowStart: null,
    backfill: null,
    createdAt: AT,
    slowAt: null,
    until: null,
    reason: null,
    endedAt: null,
    parent: null,
    actor: 'admin',
    reopenedAt: null,
    reopenedBy: null,
    retries: 0,
    paused: null,
    params: null,
    tasks: [...tasks],
    closingFailed: [],
    why: null,
    ...more,
  };
}

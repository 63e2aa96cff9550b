/** The page `docs/reference/states.md`, made from the tables that the engine goes by. */

import { RUN_OUTCOMES, RUN_PHASES, type RunOutcome, type RunPhase } from '../model/run/phase.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome, BUDGET_OF } from '../model/task/outcome.ts';
import { STOPPED, TASK_MOVES, TASK_STATE_NAMES } from '../tables/task/task-table.ts';
import { pageTable } from './page-table.ts';

type StateName = (typeof TASK_STATE_NAMES)[number];

const TASK_MEANING: Record<StateName, string> = {
  blocked: 'waits for upstream tasks',
  ready: 'may start: waits for a slot, and for its limits',
  running: 'an attempt has been claimed for a worker',
  retrying: 'its last attempt failed; the next one starts when the backoff is over',
  waiting: 'it runs another dag, and waits for the end of that run; it takes no worker and no slot',
  expanded:
    'a mapped task that has become its instances, until the last of them has ended; then it shows what they came to',
  succeeded: 'an attempt succeeded; of a mapped task: all instances, or there were none',
  failed:
    'an attempt failed for good, or the budget of attempts is used up; or it waited, or took in all, too long; or its condition has no answer, its map no length or too many items',
  upstream_failed: 'tasks that it needs failed: it will never run',
  cancelled:
    'it was cancelled by itself, which counts as a failure; or its run was cancelled, or closed by a failure, before it ended',
  skipped: 'its trigger rule, its condition, a branch or a short circuit says that it does not run',
};

const PHASE_MEANING: Record<RunPhase, string> = {
  open: 'its tasks may run; no outcome yet',
  closing:
    'the outcome is fixed; ordinary tasks that still run are being ended; teardowns, undos and hooks run; it counts against limits',
  ended: 'nothing of it runs, waits or holds a slot',
};

const RUN_OUTCOME_MEANING: Record<RunOutcome, string> = {
  succeeded: 'no task can run any more, and every leaf (a task that no other needs) succeeded or was skipped',
  failed: 'a leaf failed or could not run because of a failure; under `fail_fast` and `skip_failed`: any task failed',
  cancelled: 'someone cancelled it before it was completed',
};

const ATTEMPT_MEANING: Record<AttemptOutcome, string> = {
  succeeded: 'the worker reported success',
  transient: 'the worker reported a failure that may pass',
  permanent: 'the worker reported a failure that trying again does not mend',
  timeout: "it ran longer than the task's timeout allows",
  lost: 'its worker was not heard for the length of its lease, or lost it',
  cancelled: 'its run was cancelled, or the worker stopped it',
  resource: 'it ran out of something, such as memory',
  stuck: 'it made no progress for longer than the task allows',
};

const BUDGET_MEANING = { maxAttempts: '`maxAttempts`, after a backoff', maxLost: '`maxLost`, at once' } as const;

export function statesPage(): string {
  return [
    '# States',
    'Made from the tables in `packages/engine`. A test compares; `npx vitest run packages/engine/src/pages/states-page.test.ts -u` writes it anew.',
    '## Tasks',
    pageTable(
      ['state', 'meaning', 'may become'],
      TASK_STATE_NAMES.flatMap((name, code) =>
        // Cancelled by itself, or with its run: one state for people.
        code === STOPPED ? [] : [[`\`${name}\``, TASK_MEANING[name], movesFrom(code)]],
      ),
    ),
    'A claim that is refused, or never arrives, goes from `running` back to `ready` and does not count as an attempt.',
    'Back to `blocked` leads only what people do by hand: clearing the task, or one that it waits for. It begins with fresh budgets; older attempts stay. What its upstream makes of it follows at once. Marking a task goes the same way, from `blocked` to what was said of it.',
    '## Attempts',
    pageTable(
      ['outcome', 'meaning', 'counts against'],
      ATTEMPT_OUTCOMES.map((outcome) => [`\`${outcome}\``, ATTEMPT_MEANING[outcome], budgetOf(outcome)]),
    ),
    '## Runs',
    'A run goes through its phases in this order. Back to `open` goes only one that was not cancelled, when somebody has its tasks cleared or marked, or its own policy (`retryRun`) does.',
    pageTable(
      ['phase', 'meaning'],
      RUN_PHASES.map((phase) => [`\`${phase}\``, PHASE_MEANING[phase]]),
    ),
    pageTable(
      ['outcome', 'meaning'],
      RUN_OUTCOMES.map((outcome) => [`\`${outcome}\``, RUN_OUTCOME_MEANING[outcome]]),
    ),
    'Teardowns, undos and hooks change no outcome, whatever becomes of them. They are `skipped` where there is nothing for them to do, and `cancelled` only by a cancel with force.',
    'A run that makes decisions about it go wrong twice is _set aside_: it stays as it is, is shown, and nothing touches it until a person does.',
    '',
  ]
    .join('\n\n')
    .trimEnd();
}

function movesFrom(code: number): string {
  const names = [...new Set(TASK_MOVES[code]!.map((to) => `\`${TASK_STATE_NAMES[to]}\``))];
  return names.length === 0 ? 'final' : names.join(', ');
}

function budgetOf(outcome: AttemptOutcome): string {
  const budget = BUDGET_OF[outcome];
  return budget === null ? 'none: the task ends with it' : BUDGET_MEANING[budget];
}

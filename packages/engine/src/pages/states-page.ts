/** The page `docs/reference/states.md`, made from the tables that the engine uses. */

import { RUN_OUTCOMES, RUN_PHASES, type RunOutcome, type RunPhase } from '../model/run/phase.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome, BUDGET_OF } from '../model/task/outcome.ts';
import { TASK_STATE_KEYS, TASK_STATE_ROWS } from '../model/task/task-states.ts';
import { pageTable } from './page-table.ts';

const PHASE_MEANING: Record<RunPhase, string> = {
  open: 'its tasks can run; it has no outcome yet',
  closing:
    'the outcome is fixed; running ordinary tasks are being stopped; teardowns, undos and hooks run; it still counts against limits',
  ended: 'nothing runs, waits or holds a slot',
};

const RUN_OUTCOME_MEANING: Record<RunOutcome, string> = {
  succeeded: 'no more task can run, and every leaf (a task that no other task needs) succeeded or was skipped',
  failed: 'a leaf failed or could not run because of a failure; with `fail_fast` and `skip_failed`: any task failed',
  cancelled: 'it was cancelled before it completed',
};

const ATTEMPT_MEANING: Record<AttemptOutcome, string> = {
  succeeded: 'the worker reported success',
  transient: 'the worker reported a temporary failure',
  permanent: 'the worker reported a failure that a retry cannot fix',
  timeout: "it ran longer than the task's timeout",
  lost: 'its worker sent no heartbeat during its lease, or lost the attempt',
  cancelled: 'its run was cancelled, or its worker stopped it',
  resource: 'it ran out of a resource, such as memory',
  stuck: "it reported no progress for the task's progress timeout",
};

const BUDGET_MEANING = { maxAttempts: '`maxAttempts`, after a backoff', maxLost: '`maxLost`, at once' } as const;

export function statesPage(): string {
  return [
    '# States',
    'Generated from the tables in `packages/engine`. To write this page again: `npx vitest run packages/engine/src/pages/states-page.test.ts -u`.',
    '## Tasks',
    pageTable(
      ['state', 'meaning', 'may become'],
      // Cancelled by itself, or with its run: one state for people, with one row.
      TASK_STATE_ROWS.filter(({ meaning }) => meaning !== '').map(({ shown, meaning, moves }) => [
        `\`${shown}\``,
        meaning,
        namesOf(moves),
      ]),
    ),
    'If a worker refuses an assignment, or never receives it, the task goes from `running` back to `ready`. This does not count as an attempt.',
    'A task goes back to `blocked` only if you clear it, or clear a task that it needs. It starts with new budgets; older attempts stay. If you mark a task, it goes through `blocked` to the marked state.',
    '## Attempts',
    pageTable(
      ['outcome', 'meaning', 'counts against'],
      ATTEMPT_OUTCOMES.map((outcome) => [`\`${outcome}\``, ATTEMPT_MEANING[outcome], budgetOf(outcome)]),
    ),
    '## Runs',
    'A run goes through these phases in order. It goes back to `open` only if you clear or mark its tasks, or if its `retryRun` policy does. A cancelled run never does.',
    pageTable(
      ['phase', 'meaning'],
      RUN_PHASES.map((phase) => [`\`${phase}\``, PHASE_MEANING[phase]]),
    ),
    pageTable(
      ['outcome', 'meaning'],
      RUN_OUTCOMES.map((outcome) => [`\`${outcome}\``, RUN_OUTCOME_MEANING[outcome]]),
    ),
    'Teardowns, undos and hooks never change the outcome. They are `skipped` if there is nothing to do, and `cancelled` only by a cancel with `force`.',
    'If scheduling a run fails twice with an internal error, the run is _set aside_: it stays as it is, other runs continue, and nothing changes it until you do.',
    '',
  ]
    .join('\n\n')
    .trimEnd();
}

function namesOf(moves: readonly string[]): string {
  const shown = moves.map((to) => `\`${TASK_STATE_ROWS[TASK_STATE_KEYS.indexOf(to)]!.shown}\``);
  return [...new Set(shown)].join(', ');
}

function budgetOf(outcome: AttemptOutcome): string {
  const budget = BUDGET_OF[outcome];
  return budget === null ? 'nothing: the task ends' : BUDGET_MEANING[budget];
}

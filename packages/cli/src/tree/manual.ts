/** What people do to runs and tasks by hand. */
import { TASK_STATES } from '@signalbox/protocol/words';
import type { ClearDagFlags, ClearFlags } from '../commands/runs-clear.ts';
import type { RerunFlags } from '../commands/runs-rerun.ts';
import type { MarkFlags } from '../commands/tasks-mark.ts';
import type { ClientFlags } from '../connection.ts';
import {
  type ArgumentDefinition,
  clientFlags,
  define,
  type FlagDefinition,
  JSON_SOURCES,
  json,
  oneOf,
  span,
  wholeNumber,
} from '../define.ts';

const run: ArgumentDefinition = { name: 'run', what: 'its id, or "last" for the last run that you started' };
const task: ArgumentDefinition = { name: 'task', what: 'the name of a task' };
const MARKS = ['succeeded', 'failed', 'skipped'] as const;

const listOf = (choices: readonly string[]) => (text: string) => text.split(',').map(oneOf(choices));

const touchFlags: readonly FlagDefinition[] = [
  { flags: '--dry-run', what: 'only print what would change' },
  { flags: '--force', what: 'stop running attempts' },
  { flags: '-y, --yes', what: 'do not ask for confirmation' },
];
const chooseFlags: readonly FlagDefinition[] = [
  {
    flags: '--state <states>',
    what: 'only tasks in these states: failed,cancelled …',
    completes: TASK_STATES,
    read: listOf(TASK_STATES),
    field: 'states',
  },
  { flags: '--only', what: 'without the tasks that depend on them' },
  { flags: '--upstream', what: 'also the tasks that they depend on' },
];
const reason: FlagDefinition = { flags: '--reason <text>', what: 'the reason; shown with the task' };

export const manualCommands = [
  define<ClearFlags>({
    name: 'runs clear',
    summary: 'run tasks again, whatever their result',
    details:
      'Also runs the tasks that depend on them, unless you pass --only. A run that had ended opens again. Older attempts and logs stay; the old outputs are discarded.',
    arguments: [run, { ...task, isOptional: true, isMany: true }],
    flags: [...chooseFlags, ...touchFlags, ...clientFlags],
    examples: [
      ['signalbox runs clear last --state failed', 'the failed tasks and what depends on them'],
      ['signalbox runs clear last load --dry-run', 'what would run again'],
      ['signalbox runs clear last load --only --force', 'this task alone, even while it runs'],
    ],
    run: async ([id = '', ...tasks], flags) => (await import('../commands/runs-clear.ts')).clear(id, tasks, flags),
  }),
  define<RerunFlags>({
    name: 'runs rerun',
    summary: 'start the same run again, as a new run',
    details:
      'Uses the params and the version of the run. To continue in the same run, use "runs clear" or "runs retry".',
    arguments: [run],
    flags: [
      { flags: '--latest', what: 'use the newest version of the dag' },
      { flags: '--params <json>', what: `other params; ${JSON_SOURCES}`, read: json },
      { flags: '--dry-run', what: 'only print which run would start' },
      { flags: '-w, --wait', what: 'follow it until it ends' },
      { flags: '--timeout <span>', what: 'stop waiting after 30s, 5m, 2h …; the run continues', read: span },
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs rerun last --wait', 'run it again and watch it'],
      ['signalbox runs rerun last --latest', 'with the version that is deployed now'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-rerun.ts')).rerun(id, flags),
  }),
  define<ClientFlags>({
    name: 'runs pause',
    summary: 'pause a run: start no new tasks of it',
    details: 'Running tasks and timeouts continue. Use "runs resume" to continue the run.',
    arguments: [run],
    flags: clientFlags,
    examples: [['signalbox runs pause last', 'while you look']],
    run: async ([id = ''], flags) => (await import('../commands/runs-pause.ts')).setPaused(id, null, true, flags),
  }),
  define<ClientFlags>({
    name: 'runs resume',
    summary: 'resume a paused run',
    arguments: [run],
    flags: clientFlags,
    examples: [['signalbox runs resume last', 'continue']],
    run: async ([id = ''], flags) => (await import('../commands/runs-pause.ts')).setPaused(id, null, false, flags),
  }),
  define<ClearDagFlags>({
    name: 'dags clear',
    summary: 'clear tasks of many runs of a dag',
    details:
      'Starts with the newest runs. By default only runs that failed. If one run is refused, the others are still cleared.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [
      ...chooseFlags,
      {
        flags: '--outcome <outcome>',
        what: 'only runs with this outcome',
        completes: ['failed', 'succeeded'],
        read: oneOf(['failed', 'succeeded']),
      },
      { flags: '--since <time>', what: 'only runs created since then: 2026-01-01T00:00:00Z' },
      { flags: '--limit <count>', what: 'maximum number of runs', usual: 100, read: wholeNumber },
      ...touchFlags,
      ...clientFlags,
    ],
    examples: [
      ['signalbox dags clear nightly --dry-run', 'which runs have failed tasks'],
      ['signalbox dags clear nightly --since 2026-01-01T00:00:00Z --yes', 'run them again'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/runs-clear.ts')).clearDag(dag, flags),
  }),
  define<MarkFlags>({
    name: 'tasks mark',
    summary: 'set the state of tasks by hand',
    details:
      'The tasks that depend on them follow. A run that had ended opens again. A running task is stopped only with --force.',
    arguments: [run, { name: 'as', what: MARKS.join(', '), completes: MARKS }, { ...task, isMany: true }],
    flags: [
      { flags: '--output <json>', what: `the output of the task, with succeeded; ${JSON_SOURCES}`, read: json },
      reason,
      ...touchFlags,
      ...clientFlags,
    ],
    examples: [
      [`signalbox tasks mark last succeeded load --output '{"rows":3}'`, 'done by hand'],
      ['signalbox tasks mark last skipped report --dry-run', 'what that would mean'],
    ],
    run: async ([id = '', as = '', ...tasks], flags) =>
      (await import('../commands/tasks-mark.ts')).mark(id, oneOf(MARKS)(as) as (typeof MARKS)[number], tasks, flags),
  }),
  define<ClientFlags>({
    name: 'tasks attempts',
    summary: 'list the attempts of a task: outcome, time, what each used and cost',
    arguments: [run, task],
    flags: clientFlags,
    examples: [['signalbox tasks attempts last load', 'the oldest first']],
    run: async ([id = '', name = ''], flags) =>
      (await import('../commands/tasks-attempts.ts')).listAttempts(id, name, flags),
  }),
  define<ClientFlags>({
    name: 'tasks decisions',
    summary: 'say why the attempts of a task went to their workers, and why then',
    details:
      'What was looked at is kept for a day, and of a flood of claims only in part: SIGNALBOX_DECISIONS_PER_SECOND of the server says how many.',
    arguments: [run, task],
    flags: clientFlags,
    examples: [['signalbox tasks decisions last load', 'the workers, their scores, limits, and how long it waited']],
    run: async ([id = '', name = ''], flags) =>
      (await import('../commands/tasks-decisions.ts')).listDecisions(id, name, flags),
  }),
  define<ClearFlags>({
    name: 'tasks clear',
    summary: 'run tasks again',
    details: 'The same as "runs clear" with task names.',
    arguments: [run, { ...task, isMany: true }],
    flags: [...chooseFlags, ...touchFlags, ...clientFlags],
    examples: [['signalbox tasks clear last load', 'and what depends on it']],
    run: async ([id = '', ...tasks], flags) => (await import('../commands/runs-clear.ts')).clear(id, tasks, flags),
  }),
  define<MarkFlags>({
    name: 'tasks cancel',
    summary: 'cancel one task of a run',
    details:
      'It counts as failed for the run and for the tasks that depend on it. To continue without it, use "tasks mark … skipped".',
    arguments: [run, task],
    flags: [
      reason,
      { flags: '--dry-run', what: 'only print what would change' },
      { flags: '-y, --yes', what: 'do not ask for confirmation' },
      ...clientFlags,
    ],
    examples: [['signalbox tasks cancel last load', 'stop it now']],
    run: async ([id = '', name = ''], flags) => (await import('../commands/tasks-mark.ts')).cancelTask(id, name, flags),
  }),
  define<ClientFlags>({
    name: 'tasks pause',
    summary: 'pause a task: do not start it',
    arguments: [run, task],
    flags: clientFlags,
    examples: [['signalbox tasks pause last load', 'until "tasks resume"']],
    run: async ([id = '', name = ''], flags) =>
      (await import('../commands/runs-pause.ts')).setPaused(id, name, true, flags),
  }),
  define<ClientFlags>({
    name: 'tasks resume',
    summary: 'resume a paused task',
    arguments: [run, task],
    flags: clientFlags,
    examples: [['signalbox tasks resume last load', 'continue']],
    run: async ([id = '', name = ''], flags) =>
      (await import('../commands/runs-pause.ts')).setPaused(id, name, false, flags),
  }),
];

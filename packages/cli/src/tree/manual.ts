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

const run: ArgumentDefinition = { name: 'run', what: 'its id, or "last" for the last one that you made' };
const task: ArgumentDefinition = { name: 'task', what: 'the name of a task' };
const MARKS = ['succeeded', 'failed', 'skipped'] as const;

const listOf = (choices: readonly string[]) => (text: string) => text.split(',').map(oneOf(choices));

const touchFlags: readonly FlagDefinition[] = [
  { flags: '--dry-run', what: 'only tell what would be touched' },
  { flags: '--force', what: 'stop attempts that run' },
  { flags: '-y, --yes', what: 'do not ask' },
];
const chooseFlags: readonly FlagDefinition[] = [
  {
    flags: '--state <states>',
    what: 'only those in these states: failed,cancelled …',
    completes: TASK_STATES,
    read: listOf(TASK_STATES),
    field: 'states',
  },
  { flags: '--only', what: 'without what lies behind them' },
  { flags: '--upstream', what: 'and what lies before them' },
];
const reason: FlagDefinition = { flags: '--reason <text>', what: 'why; shown with the task' };

export const manualCommands = [
  define<ClearFlags>({
    name: 'runs clear',
    summary: 'have tasks run again, whatever they came to',
    details:
      'With what lies behind them, unless --only. A run that had ended is open again; older attempts and logs stay. Their outputs are void.',
    arguments: [run, { ...task, isOptional: true, isMany: true }],
    flags: [...chooseFlags, ...touchFlags, ...clientFlags],
    examples: [
      ['signalbox runs clear last --state failed', 'from what failed on'],
      ['signalbox runs clear last load --dry-run', 'what would run again'],
      ['signalbox runs clear last load --only --force', 'this task alone, even while it runs'],
    ],
    run: async ([id = '', ...tasks], flags) => (await import('../commands/runs-clear.ts')).clear(id, tasks, flags),
  }),
  define<RerunFlags>({
    name: 'runs rerun',
    summary: 'the same again, as a new run',
    details:
      'With the params and the version that the run had. To go on in the same run: "runs clear" or "runs retry".',
    arguments: [run],
    flags: [
      { flags: '--latest', what: 'of the newest version of its dag' },
      { flags: '--params <json>', what: `in place of those that it had; ${JSON_SOURCES}`, read: json },
      { flags: '--dry-run', what: 'only tell which run would be made' },
      { flags: '-w, --wait', what: 'follow it to its end' },
      { flags: '--timeout <span>', what: 'stop waiting after 30s, 5m, 2h …; the run goes on', read: span },
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs rerun last --wait', 'once more, and watch it'],
      ['signalbox runs rerun last --latest', 'with what was deployed since'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-rerun.ts')).rerun(id, flags),
  }),
  define<ClientFlags>({
    name: 'runs pause',
    summary: 'start nothing new of a run',
    details: 'What runs goes on, and so do timeouts. It stays so until "runs resume".',
    arguments: [run],
    flags: clientFlags,
    examples: [['signalbox runs pause last', 'while you look']],
    run: async ([id = ''], flags) => (await import('../commands/runs-pause.ts')).setPaused(id, null, true, flags),
  }),
  define<ClientFlags>({
    name: 'runs resume',
    summary: 'let a paused run go on',
    arguments: [run],
    flags: clientFlags,
    examples: [['signalbox runs resume last', 'go on']],
    run: async ([id = ''], flags) => (await import('../commands/runs-pause.ts')).setPaused(id, null, false, flags),
  }),
  define<ClearDagFlags>({
    name: 'dags clear',
    summary: 'clear tasks of many runs of a dag',
    details:
      'Newest runs first, a page at a time; of those that ended failed unless told. What one is refused says nothing of the others.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [
      ...chooseFlags,
      {
        flags: '--outcome <outcome>',
        what: 'of runs that ended so',
        completes: ['failed', 'succeeded'],
        read: oneOf(['failed', 'succeeded']),
      },
      { flags: '--since <time>', what: 'created from here on: 2026-01-01T00:00:00Z' },
      { flags: '--limit <count>', what: 'how many runs at most', usual: 100, read: wholeNumber },
      ...touchFlags,
      ...clientFlags,
    ],
    examples: [
      ['signalbox dags clear nightly --dry-run', 'which runs have failed tasks'],
      ['signalbox dags clear nightly --since 2026-01-01T00:00:00Z --yes', 'have them run again'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/runs-clear.ts')).clearDag(dag, flags),
  }),
  define<MarkFlags>({
    name: 'tasks mark',
    summary: 'say what has become of tasks',
    details:
      'Those behind them are decided by it; a run that had ended is open again. One that runs is stopped only with --force.',
    arguments: [run, { name: 'as', what: MARKS.join(', '), completes: MARKS }, { ...task, isMany: true }],
    flags: [
      { flags: '--output <json>', what: `what it is to have returned, with succeeded; ${JSON_SOURCES}`, read: json },
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
  define<ClearFlags>({
    name: 'tasks clear',
    summary: 'have tasks run again',
    details: 'As "runs clear" with their names.',
    arguments: [run, { ...task, isMany: true }],
    flags: [...chooseFlags, ...touchFlags, ...clientFlags],
    examples: [['signalbox tasks clear last load', 'and what depends on it']],
    run: async ([id = '', ...tasks], flags) => (await import('../commands/runs-clear.ts')).clear(id, tasks, flags),
  }),
  define<MarkFlags>({
    name: 'tasks cancel',
    summary: 'end one task of a run',
    details:
      'It counts as failed for what is behind it and for the run. To go on as if it were not there: "tasks mark … skipped".',
    arguments: [run, task],
    flags: [
      reason,
      { flags: '--dry-run', what: 'only tell what would be touched' },
      { flags: '-y, --yes', what: 'do not ask' },
      ...clientFlags,
    ],
    examples: [['signalbox tasks cancel last load', 'stop it now']],
    run: async ([id = '', name = ''], flags) => (await import('../commands/tasks-mark.ts')).cancelTask(id, name, flags),
  }),
  define<ClientFlags>({
    name: 'tasks pause',
    summary: 'do not start a task',
    arguments: [run, task],
    flags: clientFlags,
    examples: [['signalbox tasks pause last load', 'until "tasks resume"']],
    run: async ([id = '', name = ''], flags) =>
      (await import('../commands/runs-pause.ts')).setPaused(id, name, true, flags),
  }),
  define<ClientFlags>({
    name: 'tasks resume',
    summary: 'let a paused task start',
    arguments: [run, task],
    flags: clientFlags,
    examples: [['signalbox tasks resume last load', 'go on']],
    run: async ([id = '', name = ''], flags) =>
      (await import('../commands/runs-pause.ts')).setPaused(id, name, false, flags),
  }),
];

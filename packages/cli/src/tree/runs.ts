import { PRIORITIES, RUN_OUTCOMES, RUN_STATES } from '@signalbox/protocol/words';
import type { CancelFlags } from '../commands/runs-cancel.ts';
import type { ListFlags } from '../commands/runs-list.ts';
import type { RetryFlags } from '../commands/runs-retry.ts';
import type { PriorityFlags } from '../commands/runs-set-priority.ts';
import type { ShowFlags } from '../commands/runs-show.ts';
import type { TriggerFlags } from '../commands/runs-trigger.ts';
import type { WatchFlags } from '../commands/runs-watch.ts';
import {
  type ArgumentDefinition,
  clientFlags,
  define,
  type FlagDefinition,
  JSON_SOURCES,
  json,
  oneOf,
  pageFlags,
  span,
  wholeNumber,
} from '../define.ts';

const run: ArgumentDefinition = { name: 'run', what: 'its id, or "last" for the last run that you started' };
const timeout = {
  flags: '--timeout <span>',
  what: 'stop waiting after 30s, 5m, 2h … with exit code 124; the run continues',
  read: span,
};

/** Which runs a command by filter is about. */
const RUN_FILTER = [
  { flags: '--dag <dag>', what: 'all runs of this dag', completes: 'dag' },
  { flags: '--tag <tag>', what: 'all runs of dags with this tag' },
  {
    flags: '--priority <priority>',
    what: `of those, only runs with this priority: ${PRIORITIES.join(', ')}`,
    completes: PRIORITIES,
    read: oneOf(PRIORITIES),
  },
  { flags: '--key <key>', what: 'of those, only runs with this key of concurrency' },
  { flags: '--since <time>', what: 'of those, only runs created at or after this time' },
  { flags: '--limit <count>', what: 'with a filter: maximum number of runs', usual: 1000, read: wholeNumber },
  { flags: '-y, --yes', what: 'do not ask for confirmation' },
] as const satisfies readonly FlagDefinition[];

/** The same of runs that have not ended. */
const LIVE_FILTER: readonly FlagDefinition[] = [
  ...RUN_FILTER,
  {
    flags: '--state <state>',
    what: 'of those, only runs that wait (queued) or are active (open)',
    completes: ['queued', 'open'],
    read: oneOf(['queued', 'open']),
  },
];

export const runCommands = [
  define<TriggerFlags>({
    name: 'runs trigger',
    summary: 'submit a run of a dag',
    details:
      'With --wait it follows the run until it ends and exits with 1 unless the run succeeded. If a task failed, it shows which one, why, ' +
      'and its last log lines. Ctrl-C stops waiting; the run continues.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [
      { flags: '--params <json>', what: `params of the run; ${JSON_SOURCES}`, read: json },
      { flags: '--priority <priority>', what: PRIORITIES.join(', '), completes: PRIORITIES, read: oneOf(PRIORITIES) },
      { flags: '--until <task>', what: 'run only this task or group, and what it depends on' },
      { flags: '--at <time>', what: 'begin at this time, such as 2027-01-01T09:00:00Z' },
      { flags: '--delay <span>', what: 'begin so much later: 10m, 2h, 250ms' },
      { flags: '--window <time>', what: 'the run is for this past window of the schedule; a window has one run' },
      { flags: '--schedule <name>', what: 'with --window: name of the schedule (default: default)' },
      { flags: '--key <key>', what: 'idempotency key: the same key gives the same run' },
      { flags: '--id <uuid>', what: 'your own id for the run, a UUID of any version but 7; used once in a tenant' },
      { flags: '-w, --wait', what: 'follow it until it ends' },
      timeout,
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs trigger hello --wait', 'run an example and watch it'],
      [`signalbox runs trigger hello --params '{"name":"you"}' --key order-17`, 'safe to repeat'],
      ['signalbox runs trigger hello --params @order.json', 'params from a file'],
      [`echo '{"name":"you"}' | signalbox runs trigger hello --params -`, 'params from standard input'],
      ['signalbox runs trigger nightly --window 2027-03-14T00:00:00Z', 'the run of that night, created or found'],
      ['signalbox runs trigger hello --delay 10m', 'later; "runs list --state scheduled" shows it'],
      ['signalbox runs trigger nightly --until load --wait', 'only load, and what it depends on'],
      ['signalbox runs trigger nightly --wait --timeout 10m --json', 'for scripts: the run as JSON, and an exit code'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/runs-trigger.ts')).trigger(dag, flags),
  }),
  define<WatchFlags>({
    name: 'runs watch',
    summary: 'follow a run until it ends',
    details: 'Like "runs trigger --wait", for a run that exists.',
    arguments: [run],
    flags: [timeout, ...clientFlags],
    examples: [['signalbox runs watch last', 'live on a terminal, one line per change elsewhere']],
    run: async ([id = ''], flags) => (await import('../commands/runs-watch.ts')).watch(id, flags),
  }),
  define<ListFlags>({
    name: 'runs list',
    summary: 'list runs, newest first',
    isDefault: true,
    flags: [
      { flags: '--dag <name>', what: 'only this dag', completes: 'dag' },
      { flags: '--state <state>', what: RUN_STATES.join(', '), completes: RUN_STATES, read: oneOf(RUN_STATES) },
      {
        flags: '--outcome <outcome>',
        what: RUN_OUTCOMES.join(', '),
        completes: RUN_OUTCOMES,
        read: oneOf(RUN_OUTCOMES),
      },
      { flags: '--parent <run>', what: 'only child runs of this run' },
      { flags: '--backfill <backfill>', what: 'only runs of this backfill' },
      { flags: '--mine', what: 'only runs started with your token' },
      ...pageFlags,
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs list', 'the last 20'],
      ['signalbox runs list --dag hello --outcome failed', 'what went wrong'],
    ],
    run: async (_, flags) => (await import('../commands/runs-list.ts')).list(flags),
  }),
  define<ShowFlags>({
    name: 'runs show',
    summary: 'show a run with its tasks',
    details: 'A mapped task is one line with counts, followed by its failed instances.',
    arguments: [run],
    flags: [{ flags: '--all', what: 'show every instance of mapped tasks' }, ...clientFlags],
    examples: [
      ['signalbox runs show last', 'tasks, attempts and results'],
      ['signalbox runs show last --json', 'everything, with full outputs and errors'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-show.ts')).show(id, flags),
  }),
  define<CancelFlags>({
    name: 'runs cancel',
    summary: 'cancel a run, or many by a filter',
    details:
      'Starts no more tasks and stops the running ones. Then teardowns, undos and hooks run; --force stops those too. ' +
      'With --dag or --tag it cancels all runs that fit and have not ended, the newest first, after it has told you how many.',
    arguments: [{ ...run, isOptional: true }],
    flags: [
      ...LIVE_FILTER,
      { flags: '--force', what: 'also stop teardowns, undos and hooks, and do not wait for attempts' },
      {
        flags: '--grace <span>',
        what: 'how long running attempts have to stop (default: 10s)',
        read: span,
        field: 'graceMs',
      },
      { flags: '--dry-run', what: 'only print what would stop, and what would run to close the run' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs cancel last', 'the run ends as cancelled'],
      ['signalbox runs cancel last --dry-run', 'what that would mean'],
      ['signalbox runs cancel last --force', 'without teardowns, undos and hooks'],
      ['signalbox runs cancel --dag hello --state queued --dry-run', 'which waiting runs of a dag that would be'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-cancel.ts')).cancel(id, flags),
  }),
  define<PriorityFlags>({
    name: 'runs set-priority',
    summary: 'let a run, or many by a filter, go before others or after them',
    details:
      'Tasks that wait change their place at once; running attempts continue. Child runs that begin later get the new priority, too. ' +
      'With --dag or --tag it changes all runs that fit and have not ended, after it has told you how many. critical needs a permission of your tenant.',
    arguments: [{ ...run, isOptional: true }],
    flags: [
      {
        flags: '--to <priority>',
        what: `the new priority: ${PRIORITIES.join(', ')}`,
        completes: PRIORITIES,
        read: oneOf(PRIORITIES),
        field: 'to',
      },
      ...LIVE_FILTER,
      { flags: '--dry-run', what: 'only print which runs would get another priority' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs set-priority last --to high', 'its tasks go before normal ones'],
      ['signalbox runs set-priority --dag hello --to low --dry-run', 'which runs of a dag would step back'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-set-priority.ts')).setPriority(id, flags),
  }),
  define<RetryFlags>({
    name: 'runs retry',
    summary: 'run a failed task again, and what depends on it; or those of many runs by a filter',
    details:
      'Without a task, retries every failed task. With --dag or --tag it retries all failed runs that fit, the newest first, after it has told you how many.',
    arguments: [
      { ...run, isOptional: true },
      { name: 'task', what: 'the name of a task', isOptional: true },
    ],
    flags: [
      ...RUN_FILTER,
      { flags: '--dry-run', what: 'only print what would run again' },
      { flags: '-w, --wait', what: 'follow the run until it ends' },
      timeout,
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs retry last --wait', 'retry all failed tasks and watch'],
      ['signalbox runs retry last load', 'one task'],
      ['signalbox runs retry --dag hello --dry-run', 'which failed runs of a dag would run again'],
    ],
    run: async ([id = '', task], flags) => (await import('../commands/runs-retry.ts')).retry(id, task, flags),
  }),
];

import { PRIORITIES, RUN_OUTCOMES, RUN_STATES } from '@signalbox/protocol/words';
import type { CancelFlags } from '../commands/runs-cancel.ts';
import type { ListFlags } from '../commands/runs-list.ts';
import type { RetryFlags } from '../commands/runs-retry.ts';
import type { ShowFlags } from '../commands/runs-show.ts';
import type { TriggerFlags } from '../commands/runs-trigger.ts';
import type { WatchFlags } from '../commands/runs-watch.ts';
import { type ArgumentDefinition, clientFlags, define, JSON_SOURCES, json, oneOf, pageFlags, span } from '../define.ts';

const run: ArgumentDefinition = { name: 'run', what: 'its id, or "last" for the last one that you made' };
const timeout = {
  flags: '--timeout <span>',
  what: 'stop waiting after 30s, 5m, 2h … with exit code 124; the run goes on',
  read: span,
};

export const runCommands = [
  define<TriggerFlags>({
    name: 'runs trigger',
    summary: 'submit a run of a dag',
    details:
      'With --wait it follows the run to its end, task by task, and exits with 1 unless it succeeded; then it shows which task failed, why, ' +
      'and its last log lines. Ctrl-C stops the waiting, not the run.',
    arguments: [{ name: 'dag', what: 'its name', completes: 'dag' }],
    flags: [
      { flags: '--params <json>', what: `what its tasks are given; ${JSON_SOURCES}`, read: json },
      { flags: '--priority <priority>', what: PRIORITIES.join(', '), completes: PRIORITIES, read: oneOf(PRIORITIES) },
      { flags: '--until <task>', what: 'run only this task, or group of tasks, and what it depends on' },
      { flags: '--key <key>', what: 'idempotency key: the same key gives the same run, however often it is sent' },
      { flags: '-w, --wait', what: 'follow it to its end' },
      timeout,
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs trigger hello --wait', 'run an example and watch it'],
      [`signalbox runs trigger hello --params '{"name":"you"}' --key order-17`, 'safe to repeat'],
      ['signalbox runs trigger hello --params @order.json', 'params from a file'],
      [`echo '{"name":"you"}' | signalbox runs trigger hello --params -`, 'params from standard input'],
      ['signalbox runs trigger nightly --until load --wait', 'only load, and what it depends on'],
      ['signalbox runs trigger nightly --wait --timeout 10m --json', 'for scripts: the run as JSON, and an exit code'],
    ],
    run: async ([dag = ''], flags) => (await import('../commands/runs-trigger.ts')).trigger(dag, flags),
  }),
  define<WatchFlags>({
    name: 'runs watch',
    summary: 'follow a run to its end',
    details: 'As "runs trigger --wait" does, for a run that exists.',
    arguments: [run],
    flags: [timeout, ...clientFlags],
    examples: [['signalbox runs watch last', 'live on a terminal, a line per change elsewhere']],
    run: async ([id = ''], flags) => (await import('../commands/runs-watch.ts')).watch(id, flags),
  }),
  define<ListFlags>({
    name: 'runs list',
    summary: 'runs, newest first',
    isDefault: true,
    flags: [
      { flags: '--dag <name>', what: 'only of this dag', completes: 'dag' },
      { flags: '--state <state>', what: RUN_STATES.join(', '), completes: RUN_STATES, read: oneOf(RUN_STATES) },
      {
        flags: '--outcome <outcome>',
        what: RUN_OUTCOMES.join(', '),
        completes: RUN_OUTCOMES,
        read: oneOf(RUN_OUTCOMES),
      },
      { flags: '--parent <run>', what: 'only runs that tasks of this one have made' },
      { flags: '--mine', what: 'only runs that you made, with this token' },
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
    summary: 'a run with its tasks',
    details: 'A mapped task is one line, with counts; below are instances of it that failed.',
    arguments: [run],
    flags: [{ flags: '--all', what: 'every instance of mapped tasks as well' }, ...clientFlags],
    examples: [
      ['signalbox runs show last', 'tasks, attempts, what they came to'],
      ['signalbox runs show last --json', 'everything, outputs and errors whole'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-show.ts')).show(id, flags),
  }),
  define<CancelFlags>({
    name: 'runs cancel',
    summary: 'end a run',
    details:
      'No task of it starts any more; those that run are told to stop. Then its teardowns, undos and hooks run; with --force they are ended too.',
    arguments: [run],
    flags: [
      { flags: '--force', what: 'end its teardowns, undos and hooks as well, and wait for no attempt' },
      {
        flags: '--grace <span>',
        what: 'what running attempts are given to stop; 10s unless told',
        read: span,
        field: 'graceMs',
      },
      { flags: '--dry-run', what: 'only tell what would be stopped, and what would run to close it' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox runs cancel last', 'it ends as cancelled'],
      ['signalbox runs cancel last --dry-run', 'what that would mean'],
      ['signalbox runs cancel last --force', 'without waiting for what closes it'],
    ],
    run: async ([id = ''], flags) => (await import('../commands/runs-cancel.ts')).cancel(id, flags),
  }),
  define<RetryFlags>({
    name: 'runs retry',
    summary: 'run a failed task again, and what depends on it',
    details: 'Without a task: every task that has failed.',
    arguments: [run, { name: 'task', what: 'the name of a task', isOptional: true }],
    flags: [{ flags: '-w, --wait', what: 'follow the run to its end' }, timeout, ...clientFlags],
    examples: [
      ['signalbox runs retry last --wait', 'all that failed, and watch it'],
      ['signalbox runs retry last load', 'one task'],
    ],
    run: async ([id = '', task], flags) => (await import('../commands/runs-retry.ts')).retry(id, task, flags),
  }),
];

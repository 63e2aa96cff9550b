import type { EditScheduleFlags, ListSchedulesFlags } from '../commands/schedules.ts';
import type { ClientFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, type FlagDefinition, oneOf, pageFlags } from '../define.ts';

const dag: ArgumentDefinition = { name: 'dag', what: 'its dag', completes: 'dag' };
const schedule: ArgumentDefinition = {
  name: 'schedule',
  what: 'its name; that of a single schedule of a definition is default',
};

const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
const MISSED = ['skip', 'most_recent', 'catchup'] as const;
/** Words of versions before; the server warns. */
const OLD_MISSED = ['latest', 'all'] as const;
const IF_RUNNING = ['allow', 'skip', 'queue_one', 'queue_all', 'cancel_running'] as const;
const ORIGINS = ['definition', 'api'] as const;

const settings: readonly FlagDefinition[] = [
  { flags: '--cron <cron>', what: 'the expression, in quotes' },
  { flags: '--tz <zone>', what: 'IANA time zone (default: UTC)', field: 'zone' },
  { flags: '--params <json>', what: 'params of its runs, as a JSON object' },
  { flags: '--priority <priority>', what: 'priority of its runs', completes: PRIORITIES, read: oneOf(PRIORITIES) },
  {
    flags: '--missed <policy>',
    what: 'what happens to missed windows',
    completes: MISSED,
    read: oneOf([...MISSED, ...OLD_MISSED]),
  },
  {
    flags: '--if-running <policy>',
    what: 'what a window does while the dag has active runs',
    completes: IF_RUNNING,
    read: oneOf(IF_RUNNING),
  },
  { flags: '--every <span>', what: 'an interval in place of --cron, such as 15m' },
  { flags: '--at <time>', what: 'a time in place of --cron, such as 2027-01-01T09:00:00Z' },
  { flags: '--after <span>', what: 'once, after this delay' },
  { flags: '--run-now', what: 'a first run at once' },
  { flags: '--spec <json>', what: 'the schedule as JSON, for all other settings; flags win over it' },
];

export const scheduleCommands = [
  define<ListSchedulesFlags>({
    name: 'schedules list',
    summary: 'list the schedules of all dags, or of one',
    isDefault: true,
    flags: [
      { flags: '--dag <dag>', what: 'of this dag only', completes: 'dag' },
      { flags: '--paused', what: 'only those that are paused' },
      { flags: '--origin <origin>', what: 'of definitions or of the API', completes: ORIGINS, read: oneOf(ORIGINS) },
      ...pageFlags,
      ...clientFlags,
    ],
    examples: [['signalbox schedules --dag report', 'those of one dag, with the next time of each']],
    run: async (_, flags) => (await import('../commands/schedules.ts')).listSchedules(flags),
  }),
  define<ClientFlags>({
    name: 'schedules show',
    summary: 'show a schedule with all its settings',
    arguments: [dag, schedule],
    flags: clientFlags,
    examples: [['signalbox schedules show report default', 'the one under "schedule" in the file']],
    run: async ([of = '', name = ''], flags) =>
      (await import('../commands/schedules.ts')).showSchedule(of, name, flags),
  }),
  define<EditScheduleFlags>({
    name: 'schedules create',
    summary: 'create a schedule without a deploy',
    details: 'Deploys leave it alone. A name that the definition of the dag uses is refused.',
    arguments: [dag, schedule],
    flags: [...settings, ...clientFlags],
    examples: [
      ['signalbox schedules create report eu --cron "30 2 * * *" --tz Europe/Berlin', 'every night'],
      [`signalbox schedules create report us --cron @hourly --params '{"region":"us"}'`, 'with params of its own'],
    ],
    run: async ([of = '', name = ''], flags) =>
      (await import('../commands/schedules.ts')).createSchedule(of, name, flags),
  }),
  define<ClientFlags>({
    name: 'schedules import',
    summary: 'create many schedules from a file, one per line of JSON',
    details: 'Each line has the dag, the name and the settings of a schedule. To import a file again does no harm.',
    arguments: [{ name: 'file', what: 'the file; - for standard input', completes: 'file' }],
    flags: clientFlags,
    examples: [
      [
        `echo '{"dag":"report","name":"eu","cron":"30 2 * * *"}' | signalbox schedules import -`,
        'one; a file may have a million',
      ],
    ],
    run: async ([file = ''], flags) => (await import('../commands/import-lines.ts')).importSchedules(file, flags),
  }),
  define<EditScheduleFlags>({
    name: 'schedules edit',
    summary: 'change a schedule that was created without a deploy',
    details:
      'Settings that you do not name have their defaults again; a warning lists those that this has changed. For one of the definition: change the file of the dag and deploy it.',
    arguments: [dag, schedule],
    flags: [...settings, ...clientFlags],
    examples: [['signalbox schedules edit report eu --cron "0 3 * * *"', 'from now on at three']],
    run: async ([of = '', name = ''], flags) =>
      (await import('../commands/schedules.ts')).editSchedule(of, name, flags),
  }),
  define<ClientFlags>({
    name: 'schedules pause',
    summary: 'pause a schedule; it stays paused through deploys',
    arguments: [dag, schedule],
    flags: clientFlags,
    examples: [['signalbox schedules pause report eu', 'no window of it fires until you resume it']],
    run: async ([of = '', name = ''], flags) =>
      (await import('../commands/schedules.ts')).setSchedulePaused(of, name, true, flags),
  }),
  define<ClientFlags>({
    name: 'schedules resume',
    summary: 'resume a schedule',
    arguments: [dag, schedule],
    flags: clientFlags,
    examples: [['signalbox schedules resume report eu', 'goes on with the next window']],
    run: async ([of = '', name = ''], flags) =>
      (await import('../commands/schedules.ts')).setSchedulePaused(of, name, false, flags),
  }),
  define<ClientFlags>({
    name: 'schedules delete',
    summary: 'delete a schedule that was created without a deploy',
    details: 'Its runs stay. For one of the definition: remove it from the file of the dag and deploy that.',
    arguments: [dag, schedule],
    flags: clientFlags,
    examples: [['signalbox schedules delete report eu', 'no window of it fires any more']],
    run: async ([of = '', name = ''], flags) =>
      (await import('../commands/schedules.ts')).deleteSchedule(of, name, flags),
  }),
];

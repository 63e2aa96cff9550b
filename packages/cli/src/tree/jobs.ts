/** Jobs without a dag. */
import { JOB_STATES, PRIORITIES } from '@signalbox/protocol/words';
import type { ImportJobsFlags } from '../commands/import-lines.ts';
import type { CreateJobFlags, ListJobsFlags } from '../commands/jobs.ts';
import type { ClientFlags, PageFlags } from '../connection.ts';
import { type ArgumentDefinition, clientFlags, define, JSON_SOURCES, json, oneOf, pageFlags } from '../define.ts';

const job: ArgumentDefinition = { name: 'job', what: 'its id' };
const SETTINGS = {
  pause: ['pause a job', 'it does not run until you resume it'],
  resume: ['resume a job', 'one whose time has passed runs then'],
  cancel: ['cancel a job', 'what waits never runs; runs that a recurring job has begun go on'],
} as const;

export const jobCommands = [
  define<ListJobsFlags>({
    name: 'jobs list',
    summary: 'list jobs, newest first',
    isDefault: true,
    flags: [
      { flags: '--tag <tag>', what: 'only jobs with this tag' },
      { flags: '--owner <owner>', what: 'only jobs of this owner' },
      { flags: '--state <state>', what: JOB_STATES.join(', '), completes: JOB_STATES, read: oneOf(JOB_STATES) },
      ...pageFlags,
      ...clientFlags,
    ],
    examples: [['signalbox jobs --state scheduled', 'those that wait for their time']],
    run: async (_, flags) => (await import('../commands/jobs.ts')).listJobs(flags),
  }),
  define<CreateJobFlags>({
    name: 'jobs create',
    summary: 'run a command, an HTTP call or a deployed task, without a dag',
    details: 'Give one of --run, --http and --task. Without --at, --delay, --cron and --every it runs now.',
    flags: [
      { flags: '--run <command>', what: 'a command line' },
      { flags: '--http <url>', what: 'an HTTP call to this address' },
      { flags: '--method <method>', what: 'with --http: GET (default), POST, …' },
      { flags: '--task <dag/task>', what: 'a task of a deployed dag, with its code of now' },
      { flags: '--inputs <json>', what: `with --task: values in place of its inputs; ${JSON_SOURCES}`, read: json },
      { flags: '--at <time>', what: 'run then, such as 2027-01-01T09:00:00Z' },
      { flags: '--delay <span>', what: 'run so much later: 10m, 2h' },
      { flags: '--cron <cron>', what: 'run again and again, such as "0 7 * * *"' },
      { flags: '--every <span>', what: 'run at this interval: 15m' },
      { flags: '--tz <zone>', what: 'time zone of --cron (default: UTC)' },
      { flags: '--params <json>', what: `params for references; ${JSON_SOURCES}`, read: json },
      { flags: '--priority <priority>', what: PRIORITIES.join(', '), completes: PRIORITIES, read: oneOf(PRIORITIES) },
      { flags: '--queue <queue>', what: 'queue of its workers' },
      { flags: '--retries <count>', what: 'how often it is tried again' },
      { flags: '--timeout <span>', what: 'how long an attempt may take' },
      { flags: '--callback <url>', what: 'called when a run of it has ended' },
      { flags: '--name <name>', what: 'for people' },
      { flags: '--tag <tags>', what: 'one tag, or several with commas' },
      { flags: '--owner <owner>', what: 'who answers for it' },
      { flags: '--key <key>', what: 'idempotency key: the same key gives the same job' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox jobs create --run "echo hello" --delay 10m', 'once, later'],
      ['signalbox jobs create --http https://example.com/ping --every 15m --tag health', 'again and again'],
      [`signalbox jobs create --task report/load --inputs '{"day":"2027-03-14"}'`, 'a deployed task by itself'],
    ],
    run: async (_, flags) => (await import('../commands/jobs.ts')).createJob(flags),
  }),
  define<ImportJobsFlags>({
    name: 'jobs import',
    summary: 'create many jobs from a file, one per line of JSON',
    details:
      'Each line has the fields of a job. With --key the same file can be imported again: jobs that were made stay as they are, and lines that were refused are tried again. Use a new key for a file that you have changed.',
    arguments: [{ name: 'file', what: 'the file; - for standard input', completes: 'file' }],
    flags: [{ flags: '--key <key>', what: 'idempotency key of the file, kept for a day' }, ...clientFlags],
    examples: [
      [`echo '{"run":"echo hello","delay":"10m"}' | signalbox jobs import -`, 'one; a file may have a million'],
    ],
    run: async ([file = ''], flags) => (await import('../commands/import-lines.ts')).importJobs(file, flags),
  }),
  define<ClientFlags>({
    name: 'jobs show',
    summary: 'show a job',
    arguments: [job],
    flags: clientFlags,
    examples: [['signalbox jobs show <job>', 'state, next time, tags']],
    run: async ([id = ''], flags) => (await import('../commands/jobs.ts')).showJob(id, flags),
  }),
  define<PageFlags>({
    name: 'jobs runs',
    summary: 'list the runs of a job, newest first',
    arguments: [job],
    flags: [...pageFlags, ...clientFlags],
    examples: [['signalbox jobs runs <job>', 'the last 20']],
    run: async ([id = ''], flags) => (await import('../commands/jobs.ts')).listJobRuns(id, flags),
  }),
  ...(['pause', 'resume', 'cancel'] as const).map((verb) =>
    define<ClientFlags>({
      name: `jobs ${verb}`,
      summary: SETTINGS[verb][0],
      arguments: [job],
      flags: clientFlags,
      examples: [[`signalbox jobs ${verb} <job>`, SETTINGS[verb][1]]],
      run: async ([id = ''], flags) => (await import('../commands/jobs.ts')).setJob(id, verb, flags),
    }),
  ),
  define<ClientFlags>({
    name: 'jobs delete',
    summary: 'cancel a job and remove it from lists',
    arguments: [job],
    flags: clientFlags,
    examples: [['signalbox jobs delete <job>', 'its runs stay']],
    run: async ([id = ''], flags) => (await import('../commands/jobs.ts')).deleteJob(id, flags),
  }),
];

/** From files to dags. */
import type { DeployFlags } from '../commands/deploy.ts';
import type { InitFlags } from '../commands/init.ts';
import type { NextFlags } from '../commands/next.ts';
import type { ValidateFlags } from '../commands/validate.ts';
import { type ArgumentDefinition, clientFlags, define, instant, jsonFlag, oneOf, wholeNumber } from '../define.ts';

const GAPS = ['skip', 'fire_after'] as const;
const OVERLAPS = ['first', 'second', 'both'] as const;

const paths: ArgumentDefinition = {
  name: 'paths',
  what: 'a folder of dags, or files: .ts, .js, .yaml, .yml, .json (default: dags/)',
  isOptional: true,
  isMany: true,
  completes: 'file',
};

export const authoringCommands = [
  define<InitFlags>({
    name: 'init',
    summary: 'write a first dag, with a test for it',
    details: 'Never overwrites a file. Prints what to type next.',
    arguments: [{ name: 'folder', what: 'where to write it (default: dags)', isOptional: true, completes: 'folder' }],
    flags: [
      { flags: '--yaml', what: 'write YAML with shell commands instead of TypeScript' },
      {
        flags: '--types',
        what: 'only write a tsconfig.json, so that editors and tsc find @signalbox/sdk in this folder',
      },
      { flags: '--name <name>', what: 'name of the dag', usual: 'coffee' },
      jsonFlag,
    ],
    examples: [
      ['signalbox init', 'dags/coffee.ts and dags/coffee.test.ts'],
      ['signalbox init --types', 'tsconfig.json in this folder'],
      ['signalbox init pipelines --yaml --name nightly', 'pipelines/nightly.yaml'],
    ],
    run: async ([folder], flags) => (await import('../commands/init.ts')).init(folder, flags),
  }),
  define<ValidateFlags>({
    name: 'validate',
    summary: 'check dags without a server, for CI',
    details: 'Prints each problem as file:line:column with a fix. Exits with 1 if there are any.',
    arguments: [paths],
    flags: [jsonFlag],
    examples: [
      ['signalbox validate', 'everything in dags/'],
      ['signalbox validate pipelines --json', 'for programs: {"dags": […], "problems": […]}'],
    ],
    run: async (given, flags) => (await import('../commands/validate.ts')).validate(given, flags),
  }),
  define<NextFlags>({
    name: 'next',
    summary: 'show when a schedule fires next; needs no server',
    details:
      'Shows local time and UTC, with a note where a clock change, the calendar or jitter moves, skips or repeats a firing. ' +
      'Give cron expressions, --every, or --at. Times without an offset are times in the zone.',
    arguments: [{ name: 'cron', what: 'an expression, in quotes', isOptional: true, isMany: true }],
    flags: [
      { flags: '--every <span>', what: 'an interval, such as 15m' },
      { flags: '--anchor <time>', what: 'with --every: a time that the intervals are counted from (default: 1970)' },
      { flags: '--phase <span>', what: 'with --every: shift each firing, such as 5m' },
      {
        flags: '--at <times>',
        what: 'given times, with commas between them',
        read: (text) => text.split(',').map((time) => time.trim()),
      },
      { flags: '--start <time>', what: 'no firing before this' },
      { flags: '--end <time>', what: 'no firing after this' },
      { flags: '--limit <count>', what: 'how many firings in all', read: wholeNumber },
      {
        flags: '--calendar <file>',
        what: 'days that are excluded: .ics; or calendar fields: .yaml, .json',
        completes: 'file',
      },
      { flags: '--jitter <span>', what: 'fire up to so much later, such as 5m' },
      { flags: '--tz <zone>', what: 'IANA time zone', usual: 'UTC', field: 'timezone' },
      { flags: '--count <count>', what: 'how many firings', usual: 5, read: wholeNumber },
      {
        flags: '--from <time>',
        what: 'firings after this time, such as 2027-03-13T00:00:00Z (default: now)',
        read: instant,
      },
      {
        flags: '--gap <policy>',
        what: 'for a local time that a clock change removes: skip it, or fire_after the gap',
        usual: 'fire_after',
        completes: GAPS,
        read: oneOf(GAPS),
      },
      {
        flags: '--overlap <policy>',
        what: 'for a local time that occurs twice: fire the first time, the second, or both',
        usual: 'first',
        completes: OVERLAPS,
        read: oneOf(OVERLAPS),
      },
      jsonFlag,
    ],
    examples: [
      ['signalbox next "0 2 * * *" --tz America/New_York', 'the next five'],
      ['signalbox next "0 9 * * MON-FRI" "0 12 * * SAT" --calendar holidays.ics', 'two expressions, without holidays'],
      ['signalbox next --every 90m --anchor 2027-01-01T09:00 --tz Europe/Berlin', 'an interval'],
      ['signalbox next "0 9 LW * *" --count 12 --json', 'the last working day of each month, for programs'],
    ],
    run: async (crons, flags) => (await import('../commands/next.ts')).showNext(crons, flags),
  }),
  define<DeployFlags>({
    name: 'deploy',
    summary: 'deploy dags to a server',
    details:
      'An unchanged dag keeps its version. A file with a problem does not stop the others; the exit code is then 1. ' +
      'Running runs finish on the version they started with. If a dag of the same name was deployed from another folder, ' +
      'you are asked on a terminal and warned elsewhere.',
    arguments: [paths],
    flags: [
      { flags: '--dry-run', what: 'print what would happen to each dag, and change nothing' },
      { flags: '-y, --yes', what: 'replace dags that were deployed from another folder without asking' },
      ...clientFlags,
    ],
    examples: [
      ['signalbox deploy', 'everything in dags/'],
      ['signalbox deploy pipelines/nightly.yaml', 'one file'],
      ['signalbox deploy --dry-run', 'what would change'],
    ],
    run: async (given, flags) => (await import('../commands/deploy.ts')).deploy(given, flags),
  }),
  define<object>({
    name: 'schema',
    summary: 'print the JSON Schema of dags in YAML and JSON, for editors',
    flags: [],
    examples: [
      [
        'signalbox schema > dag.schema.json',
        'then, as the first line of a YAML file: # yaml-language-server: $schema=./dag.schema.json',
      ],
    ],
    run: async () => (await import('../commands/schema.ts')).schema(),
  }),
];

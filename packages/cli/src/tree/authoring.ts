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
    summary: 'show when a cron expression fires next; needs no server',
    details: 'Shows local time and UTC, with a note where a clock change moves, skips or repeats a firing.',
    arguments: [{ name: 'cron', what: 'the expression, in quotes' }],
    flags: [
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
      ['signalbox next "0 9 LW * *" --count 12 --json', 'the last working day of each month, for programs'],
    ],
    run: async ([cron = ''], flags) => (await import('../commands/next.ts')).showNext(cron, flags),
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

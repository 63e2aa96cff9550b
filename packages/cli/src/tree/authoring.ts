/** From files to dags. */
import type { DeployFlags } from '../commands/deploy.ts';
import type { InitFlags } from '../commands/init.ts';
import type { ValidateFlags } from '../commands/validate.ts';
import { type ArgumentDefinition, clientFlags, define, jsonFlag } from '../define.ts';

const paths: ArgumentDefinition = {
  name: 'paths',
  what: 'a folder of dags, or single files: .ts, .js, .yaml, .yml, .json (dags/ unless told)',
  isOptional: true,
  isMany: true,
  completes: 'file',
};

export const authoringCommands = [
  define<InitFlags>({
    name: 'init',
    summary: 'write a first dag, with a test for it',
    details: 'Writes only what is not there yet, and says what to type next.',
    arguments: [
      { name: 'folder', what: 'where to write it (dags unless told)', isOptional: true, completes: 'folder' },
    ],
    flags: [
      { flags: '--yaml', what: 'in YAML, with shell commands for tasks, instead of TypeScript' },
      { flags: '--types', what: 'only a tsconfig.json, so that editors and tsc find @signalbox/sdk in this folder' },
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
    details: 'Problems are told as file:line:column with what to do. Exits with 1 when there are any.',
    arguments: [paths],
    flags: [jsonFlag],
    examples: [
      ['signalbox validate', 'everything in dags/'],
      ['signalbox validate pipelines --json', 'for programs: {"dags": […], "problems": […]}'],
    ],
    run: async (given, flags) => (await import('../commands/validate.ts')).validate(given, flags),
  }),
  define<DeployFlags>({
    name: 'deploy',
    summary: 'make dags known to a server, or new versions of them',
    details:
      'A dag whose meaning is the same stays at its version. A file with a problem does not stop the others; the exit code is 1 then. ' +
      'Runs that are under way finish on the version they began with. A dag of the same name that was deployed from another folder ' +
      'is a question on a terminal, and a warning elsewhere.',
    arguments: [paths],
    flags: [
      { flags: '--dry-run', what: 'say what would become of each dag, and change nothing' },
      { flags: '-y, --yes', what: 'do not ask before a dag is replaced that was deployed from another folder' },
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

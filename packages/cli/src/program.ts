/** The parser, made from the descriptions of the commands. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { setCurrentCommand } from './current-command.ts';
import { type CommandDefinition, type FlagDefinition, UsageError } from './define.ts';
import { colours } from './output.ts';
import { didYouMean } from './suggest.ts';
import { GROUPS, SECTIONS } from './tree/index.ts';

const ABOUT = 'A job scheduler and DAG orchestrator on PostgreSQL.';
const FIRST_STEPS = `
New here? Type these, in this order:
  signalbox start                      a server with all it needs; leave it running
  signalbox runs trigger hello --wait  in another terminal: run an example and watch it
  signalbox init my-dags               write a first dag of your own

Exit codes and every flag: docs/reference/cli.md`;

/** `tell` takes what the parser has to say of a command that it cannot read; it is printed unless told. */
export function buildProgram(tell?: (text: string) => void): Command {
  const program = new Command('signalbox')
    .description(ABOUT)
    .option('--version', 'print the version')
    .addHelpText('after', FIRST_STEPS);
  // Commands below have it from here.
  if (tell !== undefined) program.configureOutput({ writeErr: tell });
  soften(program);
  for (const [heading, commands] of SECTIONS) {
    program.commandsGroup(heading);
    for (const definition of commands) {
      const words = definition.name.split(' ');
      add(words.length === 1 ? program : groupOf(program, words[0] ?? ''), words.at(-1) ?? '', definition);
    }
  }
  return program;
}

function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found !== undefined) return found;
  const summary = GROUPS.find((group) => group.name === name)?.summary;
  if (summary === undefined) throw new Error(`The commands of ${name} belong to no group.`);
  const group = program.command(name).description(summary);
  soften(group);
  refuseUnknown(group);
  return group;
}

/** A mistyped word would be taken for an argument of the command that the group stands for alone. */
function refuseUnknown(group: Command): void {
  group.hook('preSubcommand', ({ args: [word], commands }) => {
    if (word === undefined || word.startsWith('-') || commands.some((command) => command.name() === word)) return;
    const names = commands.map((command) => command.name());
    const guess = didYouMean(word, names);
    group.error(
      `error: unknown command '${word}' of ${group.name()}: there are ${names.join(', ')}${guess === null ? '' : `\n${guess}`}`,
    );
  });
}

/** `main.ts` handles the errors; it knows the exit codes. */
function soften(command: Command): void {
  command
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError(`Help: ${wordsOf(command)} --help`)
    .configureHelp({ showGlobalOptions: false });
}

function wordsOf(command: Command): string {
  const above = command.parent === null ? '' : `${wordsOf(command.parent)} `;
  return `${above}${command.name()}`;
}

function add(parent: Command, word: string, definition: CommandDefinition): void {
  const command = parent.command(word, { isDefault: definition.isDefault ?? false }).summary(definition.summary);
  soften(command);
  const { summary, details } = definition;
  command.description(
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.${details === undefined ? '' : `\n\n${details}`}`,
  );
  for (const { name, what, isOptional, isMany } of definition.arguments ?? []) {
    const dots = isMany ? '...' : '';
    command.argument(isOptional ? `[${name}${dots}]` : `<${name}${dots}>`, what);
  }
  for (const flag of definition.flags) command.addOption(optionOf(flag));
  command.addHelpText('after', () => examplesOf(definition));
  command.action(async (...given: unknown[]) => {
    const flags = withNulls(given.at(-2) as object);
    const args = given
      .slice(0, -2)
      .flat()
      .filter((arg) => typeof arg === 'string');
    setCurrentCommand({ definition, args, flags });
    await definition.run(args, flags);
  });
}

/** The parser makes an empty text of null: `--params null` is something else. */
const NULL = Symbol('null');
const withNulls = (flags: object): object =>
  Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, value === NULL ? null : value]));

function optionOf({ flags, what, usual, read, isRequired }: FlagDefinition): Option {
  const option = new Option(flags, what);
  if (usual !== undefined) option.default(usual);
  if (isRequired) option.makeOptionMandatory();
  if (read !== undefined) {
    option.argParser((text) => {
      try {
        return read(text) ?? NULL;
      } catch (error) {
        if (error instanceof UsageError) throw new InvalidArgumentError(error.message);
        throw error;
      }
    });
  }
  return option;
}

function examplesOf({ examples }: CommandDefinition): string {
  const lines = examples.map(([type, does]) => `  ${colours.cyan(type)}\n      ${does}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

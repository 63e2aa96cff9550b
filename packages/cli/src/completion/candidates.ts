/** What can come next on a command line that is being typed: words with their meaning, or a path. */
import type { CommandDefinition, Completes, FlagDefinition } from '../define.ts';
import { COMMANDS, GROUPS } from '../tree/index.ts';

interface Candidates {
  readonly words: readonly (readonly [word: string, what: string])[];
  /** The shell knows best what files there are. */
  readonly paths: 'file' | 'folder' | null;
}

const NOTHING: Candidates = { words: [], paths: null };

/** `words` are those after the program's name; the last is the one being typed, and may be empty. */
export async function candidatesFor(
  words: readonly string[],
  dagNames: (flags: ReadonlyMap<string, string>) => Promise<readonly string[]>,
): Promise<Candidates> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const found = await offer(before, typed, dagNames);
  return { ...found, words: found.words.filter(([word]) => word.startsWith(typed)) };
}

async function offer(
  before: readonly string[],
  typed: string,
  dagNames: (flags: ReadonlyMap<string, string>) => Promise<readonly string[]>,
): Promise<Candidates> {
  const command = commandOf(before);
  if (command === null) return { words: nextWords(before), paths: null };
  const rest = before.slice(wordsBefore(command, before));
  const { flags, count } = readRest(command, rest);
  const fill = async (completes: Completes | undefined): Promise<Candidates> => {
    if (completes === 'dag')
      return { words: (await dagNames(flags)).map((name) => [name, 'dag'] as const), paths: null };
    if (completes === 'file' || completes === 'folder') return { words: [], paths: completes };
    return completes === undefined ? NOTHING : { words: completes.map((word) => [word, ''] as const), paths: null };
  };
  const open = command.flags.find((flag) => takesValue(flag) && namesOf(flag).includes(rest.at(-1) ?? ''));
  if (open !== undefined) return fill(open.completes);
  if (typed.startsWith('-')) return { words: flagsOf(command), paths: null };
  const args = command.arguments ?? [];
  const last = args.at(-1);
  const filled = await fill((args[count] ?? (last?.isMany ? last : undefined))?.completes);
  // A group whose default command has been meant so far may still be followed by one of its own words.
  const words = before.length === 1 && command.isDefault ? [...nextWords(before), ...filled.words] : filled.words;
  return { ...filled, words };
}

/** The command that the words name so far, or null while they name a group or nothing. */
function commandOf(before: readonly string[]): CommandDefinition | null {
  const [first = '', second = ''] = before;
  const named = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`);
  return named ?? COMMANDS.find(({ name, isDefault }) => isDefault && name.startsWith(`${first} `)) ?? null;
}

function wordsBefore({ name }: CommandDefinition, before: readonly string[]): number {
  return name.split(' ').every((word, i) => before[i] === word) ? name.split(' ').length : 1;
}

function nextWords(before: readonly string[]): [string, string][] {
  if (before.length === 0) {
    const single = COMMANDS.filter(({ name }) => !name.includes(' '));
    return [...single, ...GROUPS].map(({ name, summary }) => [name, summary]);
  }
  if (before.length > 1) return [];
  const inGroup = COMMANDS.filter(({ name }) => name.startsWith(`${before[0]} `));
  return inGroup.map(({ name, summary }) => [name.split(' ')[1] ?? '', summary]);
}

function flagsOf({ flags }: CommandDefinition): [string, string][] {
  const all = flags.map((flag): [string, string] => [namesOf(flag).at(-1) ?? '', flag.what]);
  return [...all, ['--help', 'help for this command']];
}

/** What was given so far: flags with their values, and how many arguments. */
function readRest(command: CommandDefinition, rest: readonly string[]): { flags: Map<string, string>; count: number } {
  const flags = new Map<string, string>();
  let count = 0;
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i] ?? '';
    const flag = command.flags.find((known) => namesOf(known).includes(word));
    if (flag === undefined) count += word.startsWith('-') ? 0 : 1;
    else if (takesValue(flag)) flags.set(namesOf(flag).at(-1) ?? '', rest[++i] ?? '');
  }
  return { flags, count };
}

const takesValue = ({ flags }: FlagDefinition): boolean => flags.includes('<');
const namesOf = ({ flags }: FlagDefinition): string[] => flags.replace(/ <.*/, '').split(', ');

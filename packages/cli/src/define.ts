/**
 * How a command is described. Help, the reference page, shell completion and the parser are made from these descriptions, so
 * they can't disagree. A description is small; the code of the command is loaded when it runs.
 */
import { InexactJson, parseExactJson } from '@signalbox/protocol/exact-json';
import { type JsonSource, readSource, SourceError } from './json-source.ts';

/** What a shell can offer for a word. */
export type Completes = 'dag' | 'file' | 'folder' | readonly string[];

export interface ArgumentDefinition {
  readonly name: string;
  readonly what: string;
  readonly isOptional?: boolean;
  readonly isMany?: boolean;
  readonly completes?: Completes;
}

export interface FlagDefinition {
  /** As in help: `--params <json>`. */
  readonly flags: string;
  readonly what: string;
  readonly usual?: string | number;
  readonly completes?: Completes;
  /** Makes a value of the text, or throws a `UsageError`. */
  readonly read?: (text: string) => unknown;
  readonly isRequired?: boolean;
  /** The field of the API that carries the value, where it has another name than the flag: errors name the flag. */
  readonly field?: string;
}

export interface CommandDefinition {
  /** All its words: `runs trigger`. */
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  readonly arguments?: readonly ArgumentDefinition[];
  readonly flags: readonly FlagDefinition[];
  /** What to type, and what it does. */
  readonly examples: readonly (readonly [string, string])[];
  /** Runs when its group is given without a further word. */
  readonly isDefault?: boolean;
  readonly run: (args: readonly string[], flags: object) => Promise<void>;
}

export interface GroupDefinition {
  readonly name: string;
  readonly summary: string;
}

/** Thrown by the reader of a value. The parser adds the flag that the value belongs to. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A command whose flags come as `Flags`: the names and values that its own definitions give them. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it types the flags at the place of the definition
export function define<Flags extends object>(
  definition: Omit<CommandDefinition, 'run'> & {
    readonly run: (args: readonly string[], flags: Flags) => Promise<void>;
  },
): CommandDefinition {
  return { ...definition, run: (args, flags) => definition.run(args, flags as Flags) };
}

export function wholeNumberOrZero(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError('Use a whole number, 0 or more.');
}

export function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError('Use a whole number above 0.');
}

export function decimal(text: string): number {
  if (/^\d{1,6}(\.\d{1,4})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError('Use a number above 0, such as 2 or 0.5.');
}

/** `2027-03-13T00:00:00Z`, or a day, as UTC. */
export function instant(text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new UsageError('Use a time with its zone, such as 2027-03-13T00:00:00Z.');
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `30s`, `5m`, `2h`, `1d`, as in dags. */
export function span(text: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text);
  const ms = match === null ? 0 : Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0));
  if (ms > 0) return ms;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) throw new UsageError(`Add a unit, such as ${text}s for seconds.`);
  throw new UsageError('Use a duration such as 30s, 5m or 2h.');
}

export function oneOf(choices: readonly string[]): (text: string) => string {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new UsageError(`Use one of ${choices.join(', ')}.`);
  };
}

/** For the help of every flag that takes JSON. */
export const JSON_SOURCES = '@file reads a file, - reads standard input';

/** JSON as a word, from a file with `@params.json`, or from standard input with `-`. */
export function json(word: string): unknown {
  const { text, from } = sourceOf(word);
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw new UsageError(`${from === null ? '' : `In ${from}: `}${error.message}`);
    if (from !== null) throw new UsageError(`${from} is not JSON: ${(error as Error).message}`);
    throw new UsageError(`This is not JSON. Quote it for the shell: '{"name":"you"}', or use a file: @params.json`);
  }
}

function sourceOf(word: string): JsonSource {
  try {
    return readSource(word);
  } catch (error) {
    if (error instanceof SourceError) throw new UsageError(error.message);
    throw error;
  }
}

export const jsonFlag: FlagDefinition = { flags: '--json', what: 'print JSON, for programs' };

/** What every command that asks a server takes. */
export const clientFlags: readonly FlagDefinition[] = [
  { flags: '--url <url>', what: 'server URL (SIGNALBOX_URL, default http://127.0.0.1:4500)' },
  {
    flags: '--data <folder>',
    what: 'data folder of the server, to read its token (SIGNALBOX_DATA)',
    completes: 'folder',
  },
  jsonFlag,
];

export const pageFlags: readonly FlagDefinition[] = [
  { flags: '--limit <count>', what: 'maximum number of results', usual: 20, read: wholeNumber },
  { flags: '--cursor <cursor>', what: 'continue after the last page' },
];

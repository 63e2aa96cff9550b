/**
 * Output: colours only where they are wanted, the same content as JSON for programs, and no text of users can control the
 * terminal (I69).
 */
import { TASK_STATE_LOOKS } from '@signalbox/protocol/words';
import pc from 'picocolors';

// Typed as always there; off a terminal it is undefined.
export const isTerminal = Boolean(process.stdout.isTTY);
/** Whether lines can be drawn over. */
export const isLive = isTerminal && process.env.TERM !== 'dumb';
export const colours = pc.createColors(wantsColours(process.env, isTerminal));

/** https://no-color.org, and FORCE_COLOR for pipes into something that shows them. */
export function wantsColours(env: Readonly<Record<string, string | undefined>>, onTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '')
    return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return onTerminal && env.TERM !== 'dumb';
}

// Controls, line separators, and what turns the direction of writing, which can make one text look like another.
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** What came from users, on one line. */
export function plain(text: string): string {
  return text.replace(UNSAFE, '\u{fffd}');
}

/** A line that says what still works and should be otherwise. */
export function warning(text: string): string {
  return `${colours.yellow('warning')}: ${plain(text)}`;
}

/** The same where lines and tabs are meant. */
export function plainLines(text: string): string {
  return text.replace(UNSAFE, (mark) => (mark === '\n' || mark === '\t' ? mark : '\u{fffd}'));
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  // JSON escapes the first 32 controls by itself; a terminal also takes the others for commands.
  const text = JSON.stringify(value, null, isTerminal ? 2 : undefined) ?? 'null';
  const safe = text.replace(UNSAFE, (mark) =>
    mark === '\n' ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  print(safe);
}

/** One JSON value on a line, for what goes on: `events --follow --json`. */
export function printJsonLine(value: unknown): void {
  const escaped = JSON.stringify(value).replace(
    UNSAFE,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  print(escaped);
}

export interface ToldError {
  readonly message: string;
  readonly remedy: string | null;
  readonly code: string | null;
}

export function printError({ message, remedy, code }: ToldError, asJson: boolean): void {
  const text = asJson
    ? JSON.stringify({ error: { code, message, remedy } })
    : `error: ${plainLines(message)}${remedy === null ? '' : `\n  ${plainLines(remedy)}`}`;
  process.stderr.write(`${text}\n`);
}

/** Columns wide enough for what is in them; the last is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    rows.reduce((most, row) => Math.max(most, visible(row[i] ?? '').length), title.length),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - visible(cell).length)))
      .join('  ')
      .trimEnd();
  return [colours.dim(line(head)), ...rows.map(line)].join('\n');
}

export function visible(cell: string): string {
  // biome-ignore lint: the escape is what colours begin with
  return cell.replace(/\u001b\[\d+m/g, '');
}

/** States of runs and results of checks; those of tasks have their colours in a table. */
const COLOUR_OF: Readonly<Record<string, (text: string) => string>> = {
  ok: colours.green,
  fail: colours.red,
  set_aside: colours.red,
  warn: colours.yellow,
  paused: colours.yellow,
  open: colours.cyan,
  closing: colours.cyan,
  ...Object.fromEntries(
    Object.entries(TASK_STATE_LOOKS).map(([state, { colour }]) => [
      state,
      colour === 'plain' ? (text: string) => text : colours[colour],
    ]),
  ),
};

export function coloured(state: string): string {
  return (COLOUR_OF[state] ?? ((text: string) => text))(plain(state));
}

const LONGEST_CELL = 100;

/** What users wrote, short enough for a cell. */
export function short(text: string, longest: number = LONGEST_CELL): string {
  const safe = plain(text);
  return safe.length > longest ? `${safe.slice(0, longest - 1)}…` : safe;
}

export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

export function spanBetween(from: string, to: string): string {
  return spanText(Date.parse(to) - Date.parse(from));
}

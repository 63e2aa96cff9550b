/** Text out: colours only on a terminal, the same content as JSON for programs. */
import pc from 'picocolors';

// Typed as always there; off a terminal it is undefined, for which the colours would ask the environment instead.
export const isTerminal = Boolean(process.stdout.isTTY);
export const colours = pc.createColors(isTerminal && process.env.NO_COLOR === undefined);

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, isTerminal ? 2 : undefined));
}

/** What came from users is shown without what would move the cursor or forge lines (I69). */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, '\u{fffd}');
}

/** Columns wide enough for what is in them; the last is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => visible(row[i] ?? '').length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - visible(cell).length)))
      .join('  ');
  return [colours.dim(line(head)), ...rows.map(line)].join('\n');
}

function visible(cell: string): string {
  // biome-ignore lint: the escape is what colours begin with
  return cell.replace(/\u001b\[\d+m/g, '');
}

const COLOUR_OF: Readonly<Record<string, (text: string) => string>> = {
  succeeded: colours.green,
  failed: colours.red,
  upstream_failed: colours.red,
  set_aside: colours.red,
  cancelled: colours.yellow,
  retrying: colours.yellow,
  running: colours.cyan,
  open: colours.cyan,
};

export function coloured(state: string): string {
  return (COLOUR_OF[state] ?? ((text: string) => text))(state);
}

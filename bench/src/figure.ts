import { type Bar, judge } from './bar.ts';

/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: Bar;
  /** The least and the most of several measurements. */
  readonly spread?: readonly [number, number];
  readonly details?: Readonly<Record<string, number | string>>;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

const shown = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));

/** `compared` says how a figure differs from the last recorded one. */
export function tableOf(figures: readonly Figure[], compared: (figure: Figure) => string = () => ''): string {
  const rows = figures.map((figure) => {
    const { what, value, unit, spread, bar, details } = figure;
    return [
      what,
      `${shown(value)}${spread === undefined ? '' : ` (${spread.map(shown).join(' to ')})`} ${unit}`,
      compared(figure),
      bar === undefined ? '' : judge(value, bar).text,
      Object.entries(details ?? {})
        .map(([name, each]) => `${name} ${typeof each === 'number' ? Math.round(each * 10) / 10 : each}`)
        .join(', '),
    ];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  // A column without any text is left out.
  const isThere = (i: number) => i > 3 || (widths[i] ?? 0) > 0;
  const line = (row: readonly string[]) =>
    row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).filter((_, i) => isThere(i));
  return rows.map((row) => line(row).join('  ')).join('\n');
}

/** The figures that miss what they must reach. */
export function missedIn(figures: readonly Figure[]): readonly Figure[] {
  return figures.filter(({ value, bar }) => bar !== undefined && judge(value, bar).must === 'missed');
}

/** As JSON: each figure with what became of its bar. */
export function jsonOf(figures: readonly Figure[]): string {
  const judged = figures.map((figure) => {
    if (figure.bar === undefined) return figure;
    const { must, goal } = judge(figure.value, figure.bar);
    return { ...figure, verdict: { must, goal } };
  });
  return JSON.stringify(judged, null, 2);
}

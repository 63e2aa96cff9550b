import { type Bar, judge } from './bar.ts';

/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: Bar;
  readonly details?: Readonly<Record<string, number | string>>;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, value, unit, bar, details }) => [
    what,
    `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)} ${unit}`,
    bar === undefined ? '' : judge(value, bar).text,
    Object.entries(details ?? {})
      .map(([name, each]) => `${name} ${typeof each === 'number' ? Math.round(each * 10) / 10 : each}`)
      .join(', '),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')).join('\n');
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

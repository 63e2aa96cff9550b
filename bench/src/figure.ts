/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The bar it must reach, as text: `≥ 8000`. */
  readonly bar?: string;
  readonly details?: Readonly<Record<string, number | string>>;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export function printTable(figures: readonly Figure[]): void {
  const rows = figures.map(({ what, value, unit, bar, details }) => [
    what,
    `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)} ${unit}`,
    bar ?? '',
    Object.entries(details ?? {})
      .map(([name, each]) => `${name} ${typeof each === 'number' ? Math.round(each * 10) / 10 : each}`)
      .join(', '),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
}

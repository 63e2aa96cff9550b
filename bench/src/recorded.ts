/**
 * The last recorded result (`--record`), which later ones are compared with. A quick run measures less of everything, so it is
 * recorded by itself.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { Figure } from './figure.ts';

export type Scale = 'full' | 'quick';

interface RecordedFigure {
  readonly value: number;
  /** The processor time of all processes for each task, where it was measured. */
  readonly cpuUs?: number;
  readonly at: string;
  /** How busy the machine was in the minute before: on a busy one each µs is longer. */
  readonly load: number;
}

/** By the name of the figure. */
type Recorded = Readonly<Record<string, RecordedFigure>>;

interface File {
  readonly full: Recorded;
  readonly quick: Recorded;
}

const CPU = /^all µs\//;

export function readRecorded(path: string, scale: Scale): Recorded {
  return existsSync(path) ? readFile(path)[scale] : {};
}

/** Figures that were not measured this time stay as they are. */
export function record(path: string, scale: Scale, figures: readonly Figure[]): void {
  const file = existsSync(path) ? readFile(path) : { full: {}, quick: {} };
  const measured = figures.map((figure) => {
    const cpuUs = cpuOf(figure);
    const now = { at: new Date().toISOString().slice(0, 10), load: rounded(loadavg()[0] ?? 0) };
    const value = rounded(figure.value);
    return [figure.what, { value, ...(cpuUs === null ? {} : { cpuUs: rounded(cpuUs) }), ...now }] as const;
  });
  const next: File = { ...file, [scale]: { ...file[scale], ...Object.fromEntries(measured) } };
  writeFileSync(path, `${JSON.stringify(next, null, 2)}\n`);
}

/** Now as a part of then: `×1.12, CPU ×0.94 (load 1.9 then)`. Empty for what was not recorded. */
export function comparedWith(recorded: Recorded, figure: Figure): string {
  const before = recorded[figure.what];
  if (before === undefined) return '';
  const cpuUs = cpuOf(figure);
  const value = `×${(figure.value / before.value).toFixed(2)}`;
  const cpu = cpuUs === null || before.cpuUs === undefined ? '' : `, CPU ×${(cpuUs / before.cpuUs).toFixed(2)}`;
  return `${value}${cpu} (load ${before.load.toFixed(1)} then)`;
}

function readFile(path: string): File {
  return JSON.parse(readFileSync(path, 'utf8')) as File;
}

function cpuOf({ details = {} }: Figure): number | null {
  const found = Object.entries(details).find(([name]) => CPU.test(name))?.[1];
  return typeof found === 'number' ? found : null;
}

const rounded = (value: number): number => Number(value.toPrecision(4));

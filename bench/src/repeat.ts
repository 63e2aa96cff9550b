import type { Figure } from './figure.ts';

/**
 * One figure of several measurements of the same thing: the median by value, with all that it says of itself, and how far the
 * others lie apart.
 */
export function medianOf(runs: readonly (readonly Figure[])[]): Figure[] {
  const [first = []] = runs;
  return first.map(({ what }) => {
    const same = runs.flatMap((run) => run.filter((figure) => figure.what === what));
    const sorted = same.toSorted((a, b) => a.value - b.value);
    const median = sorted[sorted.length >> 1] as Figure;
    if (sorted.length === 1) return median;
    return { ...median, spread: [sorted[0]?.value ?? Number.NaN, sorted.at(-1)?.value ?? Number.NaN] };
  });
}

const AGAINST_RAW = / tasks?, submit to done|default executor/;

/** Throughput as a part of what raw PostgreSQL did in the same run: a busy machine slows both down. */
export function againstRaw(figures: readonly Figure[]): Figure[] {
  const raw = figures.find(({ what }) => what.startsWith('raw PostgreSQL'));
  if (raw === undefined) return [];
  return figures
    .filter(({ what }) => AGAINST_RAW.test(what))
    .map(({ what, value }) => ({ what: `${what}: part of raw PostgreSQL`, value: value / raw.value, unit: '' }));
}

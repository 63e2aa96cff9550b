/** Did you mean …? Finds the known name that a mistyped word was probably meant to be. */

const MOST_COMPARED = 5_000;

/** The closest names, best first, at most three. Empty when nothing is close. */
export function closest(word: string, names: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return names
    .slice(0, MOST_COMPARED)
    .map((name) => ({ name, far: distance(wanted, name.toLowerCase(), limit) }))
    .filter(({ name, far }) => far <= limit || isPart(wanted, name.toLowerCase()))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
}

/** `coffee` for `coffee-yaml`: a whole word that was cut off. */
const isPart = (word: string, name: string): boolean => word.length >= 3 && name.startsWith(word);

/** As a sentence; null when nothing is close. */
export function didYouMean(word: string, names: readonly string[]): string | null {
  const found = closest(word, names);
  return found.length === 0 ? null : `Did you mean ${found.join(' or ')}?`;
}

/** Edits between two words, where swapping two neighbours is one edit. More than the limit is not counted exactly. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let [before, previous] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}

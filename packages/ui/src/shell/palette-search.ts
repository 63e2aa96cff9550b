/** Finds what somebody means with a few letters: all of them, in order; whole words and starts count for more. */
export interface Entry {
  readonly label: string;
  readonly hint: string;
}

export function score(label: string, query: string): number {
  const [text, wanted] = [label.toLowerCase(), query.toLowerCase().trim()];
  if (wanted === '') return 1;
  const at = text.indexOf(wanted);
  if (at >= 0) return 1_000 - at - text.length / 100 + (at === 0 || /\W/.test(text[at - 1] ?? '') ? 500 : 0);
  let place = -1;
  let gaps = 0;
  for (const char of wanted) {
    const next = text.indexOf(char, place + 1);
    if (next < 0) return 0;
    if (place >= 0) gaps += next - place - 1;
    place = next;
  }
  return Math.max(1, 400 - gaps * 10 - text.length / 100);
}

export function search<T extends Entry>(entries: readonly T[], query: string, most: number): T[] {
  return entries
    .map((entry) => ({ entry, points: score(entry.label, query) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, most)
    .map(({ entry }) => entry);
}

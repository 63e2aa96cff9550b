/**
 * Which parts of the bench run: `schedules` stands for `schedules-bulk` and all others that begin so. A name that none of them has is
 * an error: an empty table would look like a result.
 */
export function chooseParts(names: readonly string[], only: string | undefined, usual = names): readonly string[] {
  if (only === undefined) return usual;
  const chosen = names.filter((name) => name === only || name.startsWith(`${only}-`));
  if (chosen.length > 0) return chosen;
  throw new Error(`There is no part "${only}" of the bench. --only takes one of: ${names.join(', ')}.`);
}

/** Which parts of the bench run. A name that none of them has is an error: an empty table would look like a result. */
export function chooseParts(names: readonly string[], only: string | undefined): readonly string[] {
  if (only === undefined) return names;
  if (names.includes(only)) return [only];
  throw new Error(`There is no part "${only}" of the bench. --only takes one of: ${names.join(', ')}.`);
}

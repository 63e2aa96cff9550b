/** `1 slot`, `5 slots`: a number with its noun. `many` for nouns that do not only get an s. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`;
}

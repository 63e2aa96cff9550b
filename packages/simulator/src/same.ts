/**
 * Whether two plain values are the same, field by field in the same order. Cheaper than comparing their JSON text. Values that
 * differ may still have the same text (a field that is undefined and one that is not there): whoever cares compares that as well.
 */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && areSame(a, b);
  // Maps, typed arrays and the like are for whoever knows them.
  if (Object.getPrototypeOf(a) !== Object.prototype || Object.getPrototypeOf(b) !== Object.prototype) return false;
  const [ofA, ofB] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const names = Object.keys(ofA);
  const others = Object.keys(ofB);
  if (names.length !== others.length) return false;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (name !== others[i] || !isSame(ofA[name], ofB[name])) return false;
  }
  return true;
}

function areSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!isSame(a[i], b[i])) return false;
  return true;
}

/** What people write for the ends of a range: a day, which begins at midnight of UTC, or a time. Null for anything else. */
export function isoOf(text: string): string | null {
  const trimmed = text.trim();
  const isDay = /^\d{4}-\d\d-\d\d$/.test(trimmed);
  const isTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/.test(trimmed);
  if (!isDay && !isTime) return null;
  const hasZone = /(Z|[+-]\d\d:\d\d)$/.test(trimmed) && isTime;
  const at = Date.parse(isDay ? `${trimmed}T00:00:00Z` : `${trimmed.replace(' ', 'T')}${hasZone ? '' : 'Z'}`);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

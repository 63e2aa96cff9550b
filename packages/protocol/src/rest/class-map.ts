/** Which numbers (exit codes, HTTP statuses) mean which class of end: `{ 75: transient, 64-78: permanent }`. */
import { z } from 'zod';

export const EXIT_CLASSES = ['succeeded', 'transient', 'permanent', 'resource'] as const;
export type ExitClass = (typeof EXIT_CLASSES)[number];
/** By a number, or a range of them. */
export type ClassMap = Readonly<Record<string, ExitClass>>;

const MAX_ENTRIES = 100;
const KEY = /^(\d{1,3})(?:-(\d{1,3}))?$/;

/** `what` is for people: `exit codes`. */
export function classMapSchema<const Class extends ExitClass>(what: string, most: number, classes: readonly Class[]) {
  const key = z.string().refine((text) => {
    const range = rangeOf(text);
    return range !== null && range[0] <= range[1] && range[1] <= most;
  }, `must be one of the ${what} from 0 to ${most}, or a range such as 64-78`);
  return z
    .record(key, z.enum(classes))
    .refine((map) => Object.keys(map).length <= MAX_ENTRIES, `must be at most ${MAX_ENTRIES}`);
}

/** The number itself comes before a range, a narrow range before a wide one. Null when the map says nothing. */
export function classIn(map: ClassMap | undefined, number: number): ExitClass | null {
  let best: { readonly width: number; readonly class: ExitClass } | null = null;
  for (const [key, found] of Object.entries(map ?? {})) {
    const [from, to] = rangeOf(key) ?? [1, 0];
    if (number < from || number > to) continue;
    if (best === null || to - from < best.width) best = { width: to - from, class: found };
  }
  return best?.class ?? null;
}

function rangeOf(key: string): readonly [number, number] | null {
  const [, from, to = from] = KEY.exec(key) ?? [];
  return from === undefined ? null : [Number(from), Number(to)];
}

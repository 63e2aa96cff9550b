/** The key of a run: made of its params once, when it is created, and kept with it. */
import type { ConcurrencySpec } from '../dag/spec.ts';
import { hashOf } from '../schedule/spread.ts';
import type { Json } from '../task/fact.ts';
import { follow, parseOrNull } from '../task/facts.ts';

/** Of a longer key only the beginning and a hash of all of it are kept. Two keys with the same of both count as one. */
export const MAX_KEY_CHARS = 200;
const KEPT_CHARS = 180;

export function runKeyOf({ key }: ConcurrencySpec, params: string | null): string {
  const root = key.every((part) => typeof part === 'string') ? null : parseOrNull(params);
  const text = key.map((part) => (typeof part === 'string' ? part : textOf(follow(root, part)))).join('');
  if (text.length <= MAX_KEY_CHARS) return text;
  // The mark of the second half comes first: after equal hashes, the same end gives equal hashes again.
  const hash = [text, `#${text}`].map((one) => hashOf(one).toString(16).padStart(8, '0')).join('');
  return `${text.slice(0, KEPT_CHARS)}~${hash}`;
}

/** What is missing counts as an empty text: a mistake in a name must not mean that there is no limit. */
function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

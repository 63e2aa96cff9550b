/** What user code logs through its context, as one line of JSON. User code can pass any value and can't break anything. */
import type { Log } from '@signalbox/sdk/handler';

/** As long as a stored line may be, so that it is not cut and stays JSON. */
const MAX_BYTES = 16 * 1024;
const CUT_CHARS = 2_000;

/** `hide` masks secrets: before the message is cut, for half a secret would not be found. */
export function logLine(
  level: keyof Log,
  message: unknown,
  fields?: object,
  hide: (text: string) => string = (text) => text,
): string {
  const text = hide(shown(message));
  const attempts: readonly (() => object)[] = [
    () => (fields === undefined ? { level, message: text } : { level, message: text, fields }),
    () => ({ level, message: text, fields: 'left out: no JSON, or too large' }),
    () => ({ level, message: `${text.slice(0, CUT_CHARS)}…` }),
  ];
  for (const attempt of attempts) {
    try {
      const line = JSON.stringify(attempt());
      if (line.length * 3 <= MAX_BYTES || Buffer.byteLength(line) <= MAX_BYTES) return line;
    } catch {
      // A circle, a bigint, a toJSON that throws.
    }
  }
  return JSON.stringify({ level, message: '(unprintable message)' });
}

function shown(message: unknown): string {
  try {
    return String(message);
  } catch {
    return '(unprintable message)';
  }
}

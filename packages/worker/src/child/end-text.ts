/**
 * The result of an attempt on its way to the worker: texts with a zero character between, which none of them has. An attempt
 * that succeeded with nothing to say is an empty text.
 */
import type { Result } from '../result.ts';

const BREAK = '\0';
const END_FIELDS = 9;
export const HAS_PRINTED = 1;
export const IS_LEAVING = 2;

export function endText(
  { outcome, output, error, code = '', retryAfterMs = 0, memoryBytes = 0, used }: Result,
  flags: number,
): string {
  if (flags === 0 && used === undefined && outcome === 'succeeded' && output === '' && error === '') return '';
  const texts = [outcome, output, error, code].map((text) =>
    text.includes(BREAK) ? text.replaceAll(BREAK, '\u{fffd}') : text,
  );
  const { cpuMicros = 0, peakBytes = 0 } = used ?? {};
  return [...texts, retryAfterMs, memoryBytes, flags, cpuMicros, peakBytes].join(BREAK);
}

/** Null for what is no such text. */
export function endFields(text: string): readonly string[] | null {
  if (text === '') return ['succeeded', '', '', '', '0', '0', '0', '0', '0'];
  const fields = text.split(BREAK);
  return fields.length === END_FIELDS ? fields : null;
}

/**
 * Expressions that were parsed lately. Thousands of schedules share a few of them, and each is parsed several times on its way in:
 * they share what came of it, which is frozen. Speed and memory only: the answer is that of the parser.
 */
import type { ParsedCron } from './cron-type.ts';

const KEPT = 4_096;
const known = new Map<string, ParsedCron>();

export function parsedOnce(expression: string, parse: () => ParsedCron): ParsedCron {
  // Where an `H` falls depends on the schedule.
  if (/h/i.test(expression)) return parse();
  const before = known.get(expression);
  if (before !== undefined) return before;
  const parsed = parse();
  if (!parsed.ok) return parsed;
  if (known.size >= KEPT) known.clear();
  known.set(expression, parsed);
  return parsed;
}

/** The small schemas that the larger ones share, and the way from a parser's complaint to the error table. */
import { z } from 'zod';
import { type ErrorCode, type ErrorDetails, type Problem, type ProblemCause, SignalboxError } from '../errors.ts';
import { MAX_JSON_DEPTH, MAX_PAGE, MAX_PROBLEMS, MAX_TIMEOUT_MS } from '../limits.ts';
import { PRIORITIES } from '../words.ts';

/** `.` and `..` would fit the pattern, but vanish from a path of a URL. */
export const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,200}$/, 'must have 1 to 200 of the characters A–Z a–z 0–9 _ . -')
  .refine((name) => name !== '.' && name !== '..', 'must not be . or ..');

export const handlerSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.:/-]{1,200}$/, 'must have 1 to 200 of the characters A–Z a–z 0–9 _ . : / -');

export const prioritySchema = z.enum(PRIORITIES);
export type Priority = z.infer<typeof prioritySchema>;

/** How many, and after which: the query of every list. Comes as text. */
export const pageQuerySchema = z.strictObject({
  cursor: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(50),
});

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function durationMs(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text);
  return match === null ? null : Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]);
}

interface SpanLimits {
  /** 1 ms unless told. */
  readonly minMs?: number;
  readonly maxMs: number;
  readonly example: string;
}

/** A duration up to `maxMs`. Comes out as milliseconds. */
export const spanSchema = ({ minMs = 1, maxMs, example }: SpanLimits) =>
  z
    .union([z.number(), z.string().max(20)], `must be a duration such as ${example}`)
    .transform((value, context): number => {
      // Zero needs no unit: nobody reads it in two ways.
      const ms = String(value) === '0' ? 0 : durationMs(String(value));
      if (ms !== null && Number.isInteger(ms) && ms >= minMs && ms <= maxMs) return ms;
      const days = (maxMs / UNIT_MS.d).toLocaleString('en-US');
      const message = /^\d+(?:\.\d+)?$/.test(String(value))
        ? `must have a unit: write "${value}s" for seconds or "${value}ms" for milliseconds`
        : `must be from ${minMs} ms to ${days} days: a duration such as ${example}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });

/** Text with a unit: `500ms`, `30s`, `5m`, `2h`, `1d`. A bare number is refused: some would read seconds, others milliseconds. Comes out as milliseconds. */
export const durationSchema = spanSchema({ maxMs: MAX_TIMEOUT_MS, example: '"30s" or "5m"' });

/** Before a run that failed is tried again: at most a day. */
export const retryRunDelaySchema = spanSchema({ maxMs: UNIT_MS.d, example: '"30s" or "5m"' });

/** The same for what outlives any task, such as a token: up to ten years. */
export const validitySchema = spanSchema({ maxMs: 3_650 * UNIT_MS.d, example: '"12h" or "90d"' });

/**
 * Whether JSON of unknown origin is within a depth and a size (of its text, about). Walks with a stack of its own and
 * stops at the first excess, so that hostile nesting can't overflow ours.
 */
export function jsonFault(value: unknown, limits: { readonly bytes: number }): string | null {
  const stack: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  let size = 0;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.depth > MAX_JSON_DEPTH) return `is nested deeper than ${MAX_JSON_DEPTH} levels`;
    if (typeof next.value === 'string') size += next.value.length;
    if (typeof next.value === 'object' && next.value !== null) {
      for (const [key, inner] of Object.entries(next.value)) {
        size += Array.isArray(next.value) ? 1 : key.length + 3;
        stack.push({ value: inner, depth: next.depth + 1 });
      }
    }
    size += 1;
    if (size > limits.bytes) return `is larger than ${limits.bytes} bytes`;
  }
  return Buffer.byteLength(JSON.stringify(value) ?? '') > limits.bytes ? `is larger than ${limits.bytes} bytes` : null;
}

/** `tasks[3].needs[0]`: as a person would write the way there. */
function placeOf(path: readonly PropertyKey[]): string {
  let place = '';
  for (const step of path)
    place += typeof step === 'number' ? `[${step}]` : `${place === '' ? '' : '.'}${String(step)}`;
  return place;
}

export function problemsOf(error: z.ZodError): Problem[] {
  return error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const cause = causeOf(issue);
    return { path: placeOf(issue.path), message: messageOf(issue), ...(cause === null ? {} : { cause }) };
  });
}

function causeOf(issue: z.core.$ZodIssue): ProblemCause | null {
  if (issue.code === 'unrecognized_keys') return { code: 'unknown_field', name: issue.keys[0] ?? '' };
  return issue.code === 'invalid_format' ? { code: 'invalid_format' } : null;
}

/** For an invalid key, zod only says that it is invalid. The inner issue says what it should be. */
function messageOf(issue: z.core.$ZodIssue): string {
  const inner = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined;
  return inner === undefined ? issue.message : `as a name ${inner}`;
}

/** Parses, or throws the given error with every fault's place. */
export function parseOr<T>(schema: z.ZodType<T>, input: unknown, code: ErrorCode, details: ErrorDetails = {}): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new SignalboxError(code, { ...details, problems: problemsOf(parsed.error) });
}

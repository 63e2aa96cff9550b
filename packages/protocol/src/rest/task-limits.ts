/** What a task and its attempts may have: memory, and time. */
import { z } from 'zod';
import type { Problem } from '../errors.ts';
import { durationSchema } from './common.ts';

const UNIT_BYTES = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, MB: 1e6, GB: 1e9 } as const;
const LEAST_BYTES = 2 ** 20;
const MOST_BYTES = 2 ** 44;

function bytesOf(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(KiB|MiB|GiB|kB|MB|GB)$/.exec(text);
  return match === null ? null : Math.round(Number(match[1]) * UNIT_BYTES[match[2] as keyof typeof UNIT_BYTES]);
}

/** Bytes, or text such as `512MiB`, `4GiB`. Comes out as bytes. */
const sizeSchema = z
  .union([z.number(), z.string().max(20)], 'must be bytes or a size such as "512MiB"')
  .transform((value, context): number => {
    const bytes = typeof value === 'number' ? value : bytesOf(value);
    if (bytes !== null && Number.isInteger(bytes) && bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes;
    context.addIssue({ code: 'custom', message: 'must be from 1 MiB to 16 TiB: bytes or a size such as "512MiB"' });
    return z.NEVER;
  });

export const limitFields = {
  /** Memory limit of one attempt. */
  memory: sizeSchema.optional(),
  /** After a resource failure the next attempt gets what it asked for, or this many times as much, up to `max`. */
  onResource: z.strictObject({ factor: z.number().min(1).max(100).default(2), max: sizeSchema }).optional(),
  /** How long it may be ready without a worker taking it. */
  queueTimeout: durationSchema.optional(),
  /** How long one attempt can run without reporting progress. */
  stuckAfter: durationSchema.optional(),
  /** How long it may take over all its attempts and the waits between them, from the first on. */
  totalTimeout: durationSchema.optional(),
  /** An attempt that takes longer is reported as slow and continues. */
  softTimeout: durationSchema.optional(),
} as const;

const limitSchema = z.object(limitFields);
type TaskLimits = z.output<typeof limitSchema>;
type TimedTask = TaskLimits & { readonly timeout: number | null };

export interface TaskLimitsShape {
  readonly memoryBytes?: number;
  readonly onResource?: { readonly factor: number; readonly maxBytes: number };
  readonly queueTimeoutMs?: number;
  readonly stuckMs?: number;
  readonly totalTimeoutMs?: number;
  readonly softTimeoutMs?: number;
}

export function limitSpec({ memory, onResource, ...times }: TaskLimits): TaskLimitsShape {
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(onResource === undefined ? {} : { onResource: { factor: onResource.factor, maxBytes: onResource.max } }),
    ...(times.queueTimeout === undefined ? {} : { queueTimeoutMs: times.queueTimeout }),
    ...(times.stuckAfter === undefined ? {} : { stuckMs: times.stuckAfter }),
    ...(times.totalTimeout === undefined ? {} : { totalTimeoutMs: times.totalTimeout }),
    ...(times.softTimeout === undefined ? {} : { softTimeoutMs: times.softTimeout }),
  };
}

export function checkLimits(tasks: readonly TimedTask[], problems: Problem[], list = 'tasks'): void {
  tasks.forEach((task, no) => {
    checkTimes(task, `${list}[${no}].`, problems);
    const { memory, onResource } = task;
    if (onResource === undefined) return;
    const path = `${list}[${no}].onResource`;
    if (memory === undefined) problems.push({ path, message: 'requires memory: set the limit of the first attempt' });
    else if (onResource.max < memory) problems.push({ path: `${path}.max`, message: 'must not be below memory' });
  });
}

interface Times {
  readonly timeout?: number | null | undefined;
  readonly softTimeout?: number | undefined;
  readonly stuckAfter?: number | undefined;
  readonly totalTimeout?: number | undefined;
}

/** Limits that can never take effect are mistakes: a hard limit below the soft one, or below the limit without progress. */
export function checkTimes(times: Times, at: string, problems: Problem[]): void {
  const { softTimeout, stuckAfter, totalTimeout } = times;
  const hard = Math.min(times.timeout ?? Number.POSITIVE_INFINITY, totalTimeout ?? Number.POSITIVE_INFINITY);
  if (softTimeout !== undefined && softTimeout >= hard) {
    problems.push({ path: `${at}softTimeout`, message: 'must be below timeout and totalTimeout' });
  }
  if (stuckAfter !== undefined && stuckAfter >= hard) {
    problems.push({ path: `${at}stuckAfter`, message: 'must be below timeout and totalTimeout' });
  }
}

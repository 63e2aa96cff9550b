/** What a task and its attempts may have: memory, time, and slots of a pool. */
import { z } from 'zod';
import type { Problem } from '../errors.ts';
import { bytesOf } from '../placement.ts';
import { durationSchema, nameSchema } from './common.ts';

const LEAST_BYTES = 2 ** 20;
const MOST_BYTES = 2 ** 44;
const MAX_TASK_SLOTS = 1_000;

/** Bytes, or text such as `512MiB`, `4GiB`. Comes out as bytes. */
const sizeSchema = z
  .union([z.number(), z.string().max(20)], 'must be bytes or a size such as "512MiB"')
  .transform((value, context): number => {
    const bytes = typeof value === 'number' ? value : bytesOf(value);
    if (bytes !== null && Number.isInteger(bytes) && bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes;
    context.addIssue({ code: 'custom', message: 'must be from 1 MiB to 16 TiB: bytes or a size such as "512MiB"' });
    return z.NEVER;
  });

/** So many attempts may start in any time of this length. */
export const ratePerSchema = durationSchema.refine(
  (ms) => ms >= LEAST_RATE_MS && ms <= MOST_RATE_MS,
  'must be from 1s to 7d',
);

export const rateSchema = z.strictObject({
  limit: z.int().min(1).max(1_000_000),
  per: ratePerSchema,
});
const LEAST_RATE_MS = 1_000;
const MOST_RATE_MS = 7 * 24 * 3_600_000;

export interface RateShape {
  readonly limit: number;
  readonly perMs: number;
}

export function rateSpec(rate: z.output<typeof rateSchema> | undefined): { readonly rate?: RateShape } {
  return rate === undefined ? {} : { rate: { limit: rate.limit, perMs: rate.per } };
}

export const limitFields = {
  /** Memory limit of one attempt. */
  memory: sizeSchema.optional(),
  /** After a resource failure the next attempt gets what it asked for, or this many times as much, up to `max`. */
  onResource: z.strictObject({ factor: z.number().min(1).max(100).default(2), max: sizeSchema }).optional(),
  /** Slots of a pool that it takes while it runs. */
  pool: z.strictObject({ name: nameSchema, slots: z.int().min(1).max(MAX_TASK_SLOTS).default(1) }).optional(),
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
type TimedTask = TaskLimits & {
  readonly timeout: number | null;
  readonly dag?: unknown;
  readonly maxActive?: number | undefined;
  readonly rate?: unknown;
};

export interface TaskLimitsShape {
  readonly memoryBytes?: number;
  readonly onResource?: { readonly factor: number; readonly maxBytes: number };
  readonly pool?: { readonly name: string; readonly slots: number };
  readonly queueTimeoutMs?: number;
  readonly stuckMs?: number;
  readonly totalTimeoutMs?: number;
  readonly softTimeoutMs?: number;
}

export function limitSpec({ memory, onResource, pool, ...times }: TaskLimits): TaskLimitsShape {
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(onResource === undefined ? {} : { onResource: { factor: onResource.factor, maxBytes: onResource.max } }),
    ...(pool === undefined ? {} : { pool }),
    ...(times.queueTimeout === undefined ? {} : { queueTimeoutMs: times.queueTimeout }),
    ...(times.stuckAfter === undefined ? {} : { stuckMs: times.stuckAfter }),
    ...(times.totalTimeout === undefined ? {} : { totalTimeoutMs: times.totalTimeout }),
    ...(times.softTimeout === undefined ? {} : { softTimeoutMs: times.softTimeout }),
  };
}

export function checkLimits(tasks: readonly TimedTask[], problems: Problem[], list = 'tasks'): void {
  tasks.forEach((task, no) => {
    checkTimes(task, `${list}[${no}].`, problems);
    // A task that runs another dag has no attempt that takes a slot.
    for (const field of task.dag === undefined ? [] : (['pool', 'maxActive', 'rate'] as const)) {
      if (task[field] === undefined) continue;
      problems.push({
        path: `${list}[${no}].${field}`,
        message: 'is for tasks that run: set it on tasks of the other dag',
      });
    }
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

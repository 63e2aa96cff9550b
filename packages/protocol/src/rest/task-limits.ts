/** What an attempt of a task may have. */
import { z } from 'zod';
import type { Problem } from '../errors.ts';

const UNIT_BYTES = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, MB: 1e6, GB: 1e9 } as const;
const LEAST_BYTES = 2 ** 20;
const MOST_BYTES = 2 ** 44;

function bytesOf(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(KiB|MiB|GiB|kB|MB|GB)$/.exec(text);
  return match === null ? null : Math.round(Number(match[1]) * UNIT_BYTES[match[2] as keyof typeof UNIT_BYTES]);
}

/** Bytes, or text such as `512MiB`, `4GiB`. Comes out as bytes. */
export const sizeSchema = z
  .union([z.number(), z.string().max(20)], 'must be bytes or a size such as "512MiB"')
  .transform((value, context): number => {
    const bytes = typeof value === 'number' ? value : bytesOf(value);
    if (bytes !== null && Number.isInteger(bytes) && bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes;
    context.addIssue({ code: 'custom', message: 'must be from 1 MiB to 16 TiB: bytes or a size such as "512MiB"' });
    return z.NEVER;
  });

export const limitFields = {
  /** What one attempt may have of memory. */
  memory: sizeSchema.optional(),
  /** After a resource failure the next attempt gets what it asked for, or this many times as much, up to `max`. */
  onResource: z.strictObject({ factor: z.number().min(1).max(100).default(2), max: sizeSchema }).optional(),
} as const;

const limitSchema = z.object(limitFields);
type TaskLimits = z.output<typeof limitSchema>;

export interface TaskLimitsShape {
  readonly memoryBytes?: number;
  readonly onResource?: { readonly factor: number; readonly maxBytes: number };
}

export function limitSpec({ memory, onResource }: TaskLimits): TaskLimitsShape {
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(onResource === undefined ? {} : { onResource: { factor: onResource.factor, maxBytes: onResource.max } }),
  };
}

export function checkLimits(tasks: readonly TaskLimits[], problems: Problem[]): void {
  tasks.forEach(({ memory, onResource }, no) => {
    if (onResource === undefined) return;
    const path = `tasks[${no}].onResource`;
    if (memory === undefined) problems.push({ path, message: 'goes with memory: say what the first attempt may have' });
    else if (onResource.max < memory) problems.push({ path: `${path}.max`, message: 'must not be below memory' });
  });
}

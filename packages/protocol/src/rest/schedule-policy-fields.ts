/** Fields of schedules beside their times: what becomes of their windows, and names, params and priority of their runs. */
import { z } from 'zod';
import { nameSchema, prioritySchema, spanSchema } from './common.ts';
import { checkRequires, requiresFields } from './requires-fields.ts';

export const MAX_DEFINED_SCHEDULES = 100;
export const IF_RUNNING = ['allow', 'skip', 'queue_one', 'queue_all', 'cancel_running'] as const;
const LONGEST_MS = 3_660 * 86_400_000;

/** Words of versions before. They mean the same, and are stored as the new ones. */
export const OLD_MISSED = { latest: 'most_recent', all: 'catchup' } as const;

export const schedulePolicyFields = {
  missed: z
    .enum(['skip', 'most_recent', 'catchup', 'latest', 'all'])
    .transform((missed) => (missed === 'latest' || missed === 'all' ? OLD_MISSED[missed] : missed))
    .default('most_recent'),
  missedLimit: z.int().min(1).max(10_000).default(100),
  /** Missed windows that are older than this are skipped. */
  missedMaxAge: spanSchema({ minMs: 1_000, maxMs: LONGEST_MS, example: '"6h"' }).optional(),
  /** A window that could not be decided within this time is skipped. */
  startWithin: spanSchema({ minMs: 1_000, maxMs: LONGEST_MS, example: '"10m"' }).optional(),
  /** What a window does while the dag has active runs. */
  ifRunning: z.enum(IF_RUNNING).optional(),
  /** A first run as soon as the schedule is created. */
  runNow: z.boolean().optional(),
  /** Of the runs that it creates; the defaults of the dag's params unless told. */
  params: z.record(z.string(), z.unknown(), 'must be an object').optional(),
  /** Of the runs that it creates; the dag's unless told. */
  priority: prioritySchema.optional(),
  ...requiresFields,
};

/** `schedule-1` for the first in the list, and so on, unless told. */
export const scheduleNameFields = { name: nameSchema.optional() };

interface Policies {
  readonly missed: string;
  readonly missedMaxAge?: number | undefined;
  readonly startWithin?: number | undefined;
  readonly requires?: Parameters<typeof checkRequires>[0]['requires'];
  readonly unmet?: Parameters<typeof checkRequires>[0]['unmet'];
  readonly wait?: number | undefined;
  readonly retry?: Parameters<typeof checkRequires>[0]['retry'];
}

/** Settings that contradict each other. */
export function checkPolicies(
  { missed, missedMaxAge, startWithin, ...others }: Policies,
  report: (path: string[], message: string) => void,
): void {
  checkRequires(others, report);
  if (missed === 'skip' && missedMaxAge !== undefined) {
    report(['missedMaxAge'], 'has no effect with missed: skip. Remove one of the two');
  }
  if (missedMaxAge !== undefined && startWithin !== undefined && missedMaxAge > startWithin) {
    report(['missedMaxAge'], 'must not be longer than startWithin, which skips such windows anyway');
  }
}

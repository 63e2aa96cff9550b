/** What a schedule requires of other dags before its runs begin. */
import { z } from 'zod';
import { nameSchema, spanSchema } from './common.ts';

export const UNMET = ['skip', 'fail', 'run'] as const;
const MAX_REQUIREMENTS = 20;
const LONGEST_MS = 30 * 86_400_000;
const span = (example: string) => spanSchema({ minMs: 1_000, maxMs: LONGEST_MS, example });

const requirementSchema = z
  .strictObject({
    dag: nameSchema,
    /** A run of it has succeeded within this time before the window, or since. */
    within: span('"6h"').optional(),
    /** A run of it for the same planned time has succeeded. */
    window: z.literal('same').optional(),
  })
  .refine(
    ({ within, window }) => (within === undefined) !== (window === undefined),
    'must have either within, such as { dag: orders, within: 6h }, or window: same',
  );

export const requiresFields = {
  /** Looked at when a window fires. */
  requires: z.array(requirementSchema).min(1).max(MAX_REQUIREMENTS).optional(),
  /** What becomes of the run if they are not met in time. */
  unmet: z.enum(UNMET).optional(),
  /** How long the run waits for them. */
  wait: span('"2h"').optional(),
  /** Look again so often, so long after one another, in place of `wait`. */
  retry: z.strictObject({ every: span('"10m"'), times: z.int().min(1).max(1_000) }).optional(),
};

const fieldsSchema = z.object(requiresFields);
type RequiresFields = z.output<typeof fieldsSchema>;

export interface RequiresShape {
  readonly requires?: readonly { readonly dag: string; readonly withinMs?: number; readonly window?: 'same' }[];
  readonly unmet?: (typeof UNMET)[number];
  readonly waitMs?: number;
  readonly lookMs?: number;
}

export function requiresSpec({ requires, unmet, wait, retry }: RequiresFields): RequiresShape {
  if (requires === undefined) return {};
  return {
    requires: requires.map(({ dag, within, window }) => ({
      dag,
      ...(within === undefined ? {} : { withinMs: within }),
      ...(window === undefined ? {} : { window }),
    })),
    ...(unmet === undefined ? {} : { unmet }),
    ...(wait === undefined ? {} : { waitMs: wait }),
    ...(retry === undefined ? {} : { waitMs: retry.every * retry.times, lookMs: retry.every }),
  };
}

export function checkRequires(
  { requires, unmet, wait, retry }: RequiresFields,
  report: (path: string[], message: string) => void,
): void {
  if (wait !== undefined && retry !== undefined) report(['retry'], 'stands beside wait: give one of the two');
  if (retry !== undefined && retry.every * retry.times > LONGEST_MS)
    report(['retry'], 'must not take longer than 30 days in all');
  if (requires !== undefined) return;
  if (unmet !== undefined) report(['unmet'], 'goes with requires');
  if (wait !== undefined) report(['wait'], 'goes with requires');
  if (retry !== undefined) report(['retry'], 'goes with requires');
}

/** What editors show of it. */
export const REQUIRES_WORDS = {
  'schedule.requires': {
    description:
      'Runs of other dags that must have succeeded when a window fires. Each has within (a time before the window) or window: same (the same planned time).',
    examples: [[{ dag: 'orders', within: '6h' }], [{ dag: 'rates', window: 'same' }]],
  },
  'schedule.requires[]': { description: 'One dag that must have succeeded.' },
  'schedule.requires[].dag': { description: 'Name of the dag.', examples: ['orders'] },
  'schedule.requires[].within': {
    description: 'A run of it has succeeded within this time before the window, or since.',
    examples: ['6h'],
  },
  'schedule.requires[].window': { description: 'same: the run of it for the same planned time has succeeded.' },
  'schedule.unmet': {
    description:
      'If requires is not met after wait: skip (the run is cancelled), fail, or run (run.unmet names the dags). Default: skip.',
  },
  'schedule.retry': {
    description: 'In place of wait: look at requires again so often, so long after one another.',
    examples: [{ every: '10m', times: 6 }],
  },
  'schedule.retry.every': { description: 'From one look to the next.', examples: ['10m'] },
  'schedule.retry.times': { description: 'How often it looks again before unmet applies.', examples: [6] },
  'schedule.wait': { description: 'How long a run waits for requires. Default: not at all.', examples: ['2h'] },
} as const;

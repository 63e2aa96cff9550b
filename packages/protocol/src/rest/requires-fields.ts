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
};

const fieldsSchema = z.object(requiresFields);
type RequiresFields = z.output<typeof fieldsSchema>;

export interface RequiresShape {
  readonly requires?: readonly { readonly dag: string; readonly withinMs?: number; readonly window?: 'same' }[];
  readonly unmet?: (typeof UNMET)[number];
  readonly waitMs?: number;
}

export function requiresSpec({ requires, unmet, wait }: RequiresFields): RequiresShape {
  if (requires === undefined) return {};
  return {
    requires: requires.map(({ dag, within, window }) => ({
      dag,
      ...(within === undefined ? {} : { withinMs: within }),
      ...(window === undefined ? {} : { window }),
    })),
    ...(unmet === undefined ? {} : { unmet }),
    ...(wait === undefined ? {} : { waitMs: wait }),
  };
}

export function checkRequires(
  { requires, unmet, wait }: RequiresFields,
  report: (path: string[], message: string) => void,
): void {
  if (requires !== undefined) return;
  if (unmet !== undefined) report(['unmet'], 'goes with requires');
  if (wait !== undefined) report(['wait'], 'goes with requires');
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
  'schedule.wait': { description: 'How long a run waits for requires. Default: not at all.', examples: ['2h'] },
} as const;

/** What a definition says about speculative attempts: one more attempt of a mapped task that takes far longer than its siblings. */
import { z } from 'zod';
import { durationSchema } from './common.ts';

/** Three times as long as half of them took, and not before ten seconds. */
const DEFAULT_SPECULATE = { factor: 3, minMs: 10_000 } as const;

const speculateSchema = z.strictObject({
  /** A multiple of the median time of the siblings that have succeeded. */
  factor: z.number().min(1.1).max(1_000).default(DEFAULT_SPECULATE.factor),
  /** Never before it has run this long. */
  after: durationSchema.default(DEFAULT_SPECULATE.minMs),
  /** Number of siblings that must have succeeded. Default: half of them, at most 100. */
  minimum: z.int().min(1).max(1_000_000).optional(),
});

export const speculateFields = {
  /** The first of the two to succeed counts, the other is stopped. */
  speculate: z.union([z.boolean(), speculateSchema], 'must be true, false, or an object').optional(),
} as const;

const fieldsSchema = z.object(speculateFields);
export type SpeculateFields = z.output<typeof fieldsSchema>;

export interface SpeculateShape {
  readonly factor: number;
  readonly minMs: number;
  readonly minimum?: number;
}

export function speculateSpec({ speculate }: SpeculateFields): { readonly speculate?: SpeculateShape } {
  if (speculate === undefined || speculate === false) return {};
  if (speculate === true) return { speculate: DEFAULT_SPECULATE };
  const { factor, after: minMs, minimum } = speculate;
  return { speculate: { factor, minMs, ...(minimum === undefined ? {} : { minimum }) } };
}

/** What editors show of it. */
export const SPECULATE_WORDS = {
  'tasks[].speculate': {
    description:
      'If an item of a map takes far longer than its siblings, a speculative attempt starts on another worker. The first to succeed counts, the other is stopped.',
    examples: [true, { factor: 3, after: '10s' }],
  },
  'tasks[].speculate.factor': { description: 'Factor of the median running time of succeeded siblings. Default: 3.' },
  'tasks[].speculate.after': { description: 'Minimum running time. Default: 10s.', examples: ['10s'] },
  'tasks[].speculate.minimum': {
    description: 'Number of siblings that must have succeeded. Default: half of them, at most 100.',
  },
} as const;

/** What a definition says about stragglers: a second attempt of a mapped task that takes far longer than its siblings. */
import { z } from 'zod';
import { durationSchema } from './common.ts';

/** Three times as long as half of them took, and not before ten seconds. */
export const DEFAULT_SPECULATE = { factor: 3, minMs: 10_000 } as const;

const speculateSchema = z.strictObject({
  /** So many times as long as the median of the siblings that have succeeded. */
  factor: z.number().min(1.1).max(1_000).default(DEFAULT_SPECULATE.factor),
  /** Never before it has run this long. */
  after: durationSchema.default(DEFAULT_SPECULATE.minMs),
  /** So many siblings must have succeeded; half of them unless told, or a hundred. */
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
      'An item of a map that takes far longer than its siblings gets a second attempt beside the first, at another worker. The first to succeed counts, the other is stopped.',
    examples: [true, { factor: 3, after: '10s' }],
  },
  'tasks[].speculate.factor': { description: 'Times the median of the siblings that have succeeded; 3 unless told.' },
  'tasks[].speculate.after': { description: 'Never before it has run this long; 10s unless told.', examples: ['10s'] },
  'tasks[].speculate.minimum': {
    description: 'So many siblings must have succeeded; half of them unless told, or a hundred.',
  },
} as const;

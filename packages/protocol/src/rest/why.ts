/** Why something does not run: a code for programs, a sentence for people. */
import { z } from 'zod';
import { WHY_CODES } from '../words.ts';

export const whySchema = z.object({
  code: z.enum(WHY_CODES),
  /** A sentence that says what it waits for, or why it will not run. */
  message: z.string(),
  /** When that ends by itself, where that is known: the next attempt, the end of a pause. */
  until: z.iso.datetime().nullable(),
});
export type Why = z.infer<typeof whySchema>;
export type WhyCode = Why['code'];

/** A breaker that holds tasks back, or lets them go. */
import { z } from 'zod';

const instant = z.iso.datetime();

export const breakerViewSchema = z.object({
  dag: z.string(),
  /** The fingerprint of the error whose retries it holds; null for the breaker of the dag, which holds new tasks. */
  fingerprint: z.string().nullable(),
  state: z.enum(['open', 'ramping']),
  openedAt: instant,
  since: instant,
  pauseMs: z.int(),
  /** When the next probe may go; null while what it held is let go. */
  probeAt: instant.nullable(),
  error: z.string().nullable(),
});
export type BreakerView = z.infer<typeof breakerViewSchema>;

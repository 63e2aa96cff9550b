/** The time zone data that a cluster decides by. */
import { z } from 'zod';

export const zonesViewSchema = z.object({
  /** Edition of the IANA database, such as `2025b`. */
  version: z.string(),
  /** What the runtime of each server has; null for a server that does not tell. */
  nodes: z.array(z.object({ node: z.string(), version: z.string().nullable() })),
  /** The zones that schedules have used so far, and the edition that each was stored from. */
  zones: z.array(z.object({ zone: z.string(), madeFrom: z.string() })),
});
export type ZonesView = z.infer<typeof zonesViewSchema>;

/** The answer to an upgrade. `changed` is false when the server that was asked has no newer data than the cluster. */
export const zonesRaisedSchema = z.object({
  version: z.string(),
  previous: z.string(),
  /** What the server that was asked has. */
  server: z.string(),
  changed: z.boolean(),
});
export type ZonesRaised = z.infer<typeof zonesRaisedSchema>;

/** Code of dags, by the hash of what it is. */
import { z } from 'zod';

export const bundleHashSchema = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256, in hex');

/** The answer to a store, 201 when it was new. */
export const bundleStoredSchema = z.object({ hash: z.string(), bytes: z.int() });
export type BundleStored = z.infer<typeof bundleStoredSchema>;

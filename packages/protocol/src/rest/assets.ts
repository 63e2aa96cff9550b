/** Assets: when they were produced, and who waits for them. */
import { z } from 'zod';
import { assetNameSchema } from './asset-fields.ts';
import { pageQuerySchema } from './common.ts';
import { runIdSchema } from './runs.ts';

export const listAssetsSchema = pageQuerySchema.extend({
  cursor: assetNameSchema.optional(),
  q: z.string().max(200).optional().describe('Only assets with this in their names, in upper or lower case.'),
});
export type ListAssets = z.input<typeof listAssetsSchema>;

export const assetViewSchema = z.object({
  name: z.string(),
  /** When it was produced last; null: never, but dags wait for it. */
  producedAt: z.iso.datetime().nullable(),
  /** The run and the task that did; null for one that somebody declared fresh. */
  run: runIdSchema.nullable(),
  dag: z.string().nullable(),
  task: z.string().nullable(),
  /** Who did: `task`, or who declared it. */
  producedBy: z.string().nullable(),
  /** How often it was produced. */
  count: z.int(),
  /** The dags that run when it is fresh. */
  consumers: z.array(
    z.object({
      dag: z.string(),
      trigger: z.string(),
      /** `all`: with others, which are in `assets`. */
      mode: z.enum(['all', 'any']),
      assets: z.array(z.string()),
    }),
  ),
});
export type AssetView = z.infer<typeof assetViewSchema>;

/** In order of name. */
export const assetPageSchema = z.object({ items: z.array(assetViewSchema), cursor: z.string().nullable() });
export type AssetPage = z.infer<typeof assetPageSchema>;

/** What a definition says about assets: what tasks produce, and which make runs of the dag begin. */
import { z } from 'zod';

const MAX_PRODUCED = 20;
export const MAX_WAITED_FOR = 50;

export const assetNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.:/-]{1,200}$/, 'must have 1 to 200 of the characters A–Z a–z 0–9 _ . : / -');

const namesSchema = (most: number) =>
  z
    .array(assetNameSchema)
    .min(1, 'must name at least one asset')
    .max(most)
    .refine((names) => new Set(names).size === names.length, 'must not name an asset twice');

/** Of a task. */
export const assetTaskFields = {
  /** Fresh once the task has succeeded. */
  produces: namesSchema(MAX_PRODUCED).optional(),
} as const;

/** Of a trigger: exactly one of the two. */
export const assetsSchema = z
  .strictObject({ all: namesSchema(MAX_WAITED_FOR).optional(), any: namesSchema(MAX_WAITED_FOR).optional() })
  .refine(({ all, any }) => (all === undefined) !== (any === undefined), 'must have either all or any');

export interface AssetTriggerShape {
  readonly mode: 'all' | 'any';
  readonly names: readonly string[];
}

export function readAssets({ all, any }: z.output<typeof assetsSchema>): AssetTriggerShape {
  return all === undefined ? { mode: 'any', names: any ?? [] } : { mode: 'all', names: all };
}

/** What editors show of it. */
export const ASSET_WORDS = {
  'tasks[].produces': {
    description: 'Assets that are fresh once the task has succeeded. Dags that wait for them run then.',
    examples: [['orders'], ['s3://lake/orders']],
  },
  'on.assets': {
    description: 'The dag runs when all of these assets were produced since its last such run, or any of them.',
    examples: [{ all: ['orders', 'rates'] }, { any: ['orders'] }],
  },
  'on.assets.all': { description: 'Runs when each of them is fresh.', examples: [['orders', 'rates']] },
  'on.assets.any': { description: 'Runs whenever one of them is produced.', examples: [['orders']] },
} as const;

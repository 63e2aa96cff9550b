/** Assets that were produced. */
import type { Rules } from './rule.ts';

export const assetRules = {
  AssetProduced: {
    weight: 2,
    given(world) {
      const { shard, tenantId } = world.dag();
      const name = world.chance.one(['one', 'it’s "two" {,}\\']);
      return { shard, tenantId, name, runId: undefined };
    },
  },
} satisfies Rules;

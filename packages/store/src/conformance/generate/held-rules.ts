/** Events that wait for others. */
import { newUid } from '../changes.ts';
import type { Rules } from './rule.ts';

const TRIGGERS = ['one', 'it’s "two" {,}\\'];
const KEYS = ['', 'a', 'b\n'];

export const heldRules = {
  EventHeld: {
    weight: 4,
    given(world) {
      const { chance } = world;
      const { shard, tenantId, dagId } = world.dag();
      const [trigger, groupKey] = [chance.one(TRIGGERS), chance.one(KEYS)];
      const open = world.model
        .rows('heldEvents')
        .findLast((held) => held.dagId === dagId && held.trigger === trigger && held.groupKey === groupKey);
      if (open === undefined) return { shard, tenantId, dagId, trigger, groupKey, uid: newUid(shard), eventNo: 0 };
      const { uid, isDebounced, actor } = open;
      return { shard, tenantId, dagId, trigger, groupKey, uid, isDebounced, actor, eventNo: open.eventNo + 1 };
    },
  },
  EventsReleased: {
    given(world) {
      const open = world.model.rows('heldEvents');
      if (open.length === 0) return null;
      const { shard, dagId, trigger, groupKey, uid } = world.chance.one(open);
      return { shard, dagId, trigger, groupKey, uid };
    },
  },
} satisfies Rules;

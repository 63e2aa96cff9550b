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
      const open = [...world.model.held.values()].find(
        (held) => held.dagId === dagId && held.trigger === trigger && held.groupKey === groupKey,
      );
      if (open === undefined) return { shard, tenantId, dagId, trigger, groupKey, uid: newUid(shard), eventNo: 0 };
      const { uid, isDebounced, openedAt, actor, eventCount: eventNo } = open;
      return { shard, tenantId, dagId, trigger, groupKey, uid, isDebounced, openedAt, actor, eventNo };
    },
  },
  EventsReleased: {
    given(world) {
      const open = [...world.model.held.values()];
      if (open.length === 0) return null;
      const { shard, dagId, trigger, groupKey, uid, eventCount } = world.chance.one(open);
      return { shard, dagId, trigger, groupKey, uid, eventCount };
    },
  },
} satisfies Rules;

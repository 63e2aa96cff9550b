/** Backfills and their runs. */
import { type BackfillUid, type DagDeployed, type Instant, isLiveBackfill, type ScheduleNo } from '@signalbox/engine';
import { newUid } from '../changes.ts';
import type { Rules } from './rule.ts';
import { emitRun } from './run-rules.ts';
import type { World } from './world.ts';

const SCHEDULE = { cron: '0 0 * * *', zone: 'UTC', gap: 'skip', missed: 'latest', missedLimit: 10 } as const;

export const backfillRules = {
  BackfillStarted: {
    weight: 2,
    given(world) {
      const { shard, tenantId, dagId } = world.dag();
      const range = { fromAt: 0 as Instant, toAt: world.chance.tick(), which: 'missing', order: 'backward' } as const;
      const of = { scheduleNo: 1 as ScheduleNo, scheduleName: 'default' };
      const spec = { ...of, schedule: SCHEDULE, ...range, until: `it's "x"`, maxActive: 4, share: 0.05 };
      return { shard, tenantId, dagId, uid: newUid(shard) as string as BackfillUid, spec };
    },
  },
  BackfillMoved: {
    weight: 3,
    given(world) {
      const backfill = liveOne(world);
      if (backfill === null || backfill.isDone) return null;
      const { shard, uid, dagId } = backfill;
      const dag = world.dags.find((one) => one.dagId === dagId) as DagDeployed;
      const firesAt = world.chance.tick();
      if (world.chance.is(0.7)) emitRun(world, dag, { firesAt, cause: 'backfill', backfill: uid });
      return { shard, uid, dagId, cursorAt: firesAt };
    },
  },
  BackfillSet: {
    given(world) {
      const backfill = liveOne(world);
      if (backfill === null) return null;
      const { shard, uid, dagId } = backfill;
      return { shard, uid, dagId };
    },
  },
} satisfies Rules;

function liveOne({ model, chance }: World) {
  const live = model.rows('backfills').filter(({ state }) => isLiveBackfill(state));
  return live.length === 0 ? null : chance.one(live);
}

/** Dags and their schedules. */
import {
  type DagId,
  type Instant,
  RESIDENT,
  type ScheduleNo,
  type ShardNo,
  type StoredSchedule,
} from '@signalbox/engine';
import { dagNoOf, deployed } from '../changes.ts';
import type { Rules } from './rule.ts';
import { emitRun } from './run-rules.ts';
import type { World } from './world.ts';

const SCHEDULE = {
  cron: '*/5 * * * *',
  zone: 'Europe/Berlin',
  gap: 'skip',
  missed: 'latest',
  missedLimit: 10,
} as const;
const MOST_DAGS = 3;
/** Two of one type and one of another: two rows. */
const TRIGGERS = ['order.*', 'it’s "paid"', 'order.*'].map((type, no) => ({
  name: `no ${no}`,
  type,
  dedupe: 'event.x',
}));

export const dagRules = {
  DagDeployed: {
    weight: 3,
    given: (world) => deployIn(world, world.chance.one(world.shards)),
  },
  DagRetired: {
    given(world) {
      const { shard, dagId } = world.dag();
      if (isRetired(world, dagId)) return null;
      for (const { scheduleNo, name, decidedUntil } of schedulesOf(world, dagId)) {
        world.emit('ScheduleRemoved', { shard, dagId, scheduleNo, name, decidedUntil });
      }
      return { shard, dagId };
    },
  },
  DagRevived: {
    given(world) {
      const { shard, tenantId, dagId } = world.dag();
      const triggers = world.chance.is(0.5) ? undefined : TRIGGERS;
      return isRetired(world, dagId) ? { shard, tenantId, dagId, triggers } : null;
    },
  },
  ScheduleSet: {
    weight: 3,
    given(world) {
      const { shard, dagId } = world.dag();
      if (isRetired(world, dagId)) return null;
      const others = schedulesOf(world, dagId);
      const known = others.length > 0 && world.chance.is(0.5) ? world.chance.one(others) : undefined;
      const dag = world.model.dags.get(dagId);
      const revision = (known?.revision ?? 0) + 1;
      const before = known?.decidedUntil ?? dag?.windowsUntil ?? 0;
      const scheduleNo = known?.scheduleNo ?? (((dag?.lastScheduleNo ?? 0) + 1) as ScheduleNo);
      const name = known?.name ?? `schedule "${scheduleNo}"`;
      const origin = known?.origin ?? world.chance.one(['definition', 'api'] as const);
      const at = world.chance.tick();
      const decidedUntil = Math.max(before, at) as Instant;
      const spec = { ...SCHEDULE, missedLimit: revision, zone: world.chance.one(['UTC', 'Europe/Berlin']) };
      const fired = known?.fired ?? 0;
      return { shard, dagId, scheduleNo, name, origin, revision, spec, decidedUntil, fired, dueAt: drawDue(world), at };
    },
  },
  ScheduleRemoved: {
    given(world) {
      const { shard, dagId } = world.dag();
      const known = anyScheduleOf(world, dagId);
      if (known === null) return null;
      const { scheduleNo, name, decidedUntil } = known;
      return { shard, dagId, scheduleNo, name, decidedUntil };
    },
  },
  ScheduleParked: {
    given(world) {
      const { shard, dagId } = world.dag();
      const known = anyScheduleOf(world, dagId);
      if (known === null) return null;
      const { scheduleNo, decidedUntil } = known;
      const later = world.chance.is(0.3) ? 1_000 : 0;
      return { shard, dagId, scheduleNo, dueAt: drawDue(world), decidedUntil: (decidedUntil + later) as Instant };
    },
  },
  WindowDecided: {
    weight: 3,
    given(world) {
      const { chance } = world;
      const dag = world.dag();
      const known = anyScheduleOf(world, dag.dagId);
      if (known === null) return null;
      const { scheduleNo, name } = known;
      const firesAt = (known.decidedUntil + 1_000) as Instant;
      const window = { shard: dag.shard, dagId: dag.dagId, scheduleNo, name, firesAt };
      if (chance.is(0.5)) {
        const { runId } = emitRun(world, dag, { firesAt, cause: 'schedule', scheduleNo });
        return { ...window, runId, skipped: null, wallTime: null, count: 1, untilAt: firesAt };
      }
      const skipped = chance.one(['gap', 'missed', 'paused'] as const);
      if (skipped === 'gap')
        return { ...window, runId: null, skipped, wallTime: '2026-03-29T02:30', count: 1, untilAt: firesAt };
      const untilAt = (firesAt + 60_000) as Instant;
      return { ...window, runId: null, skipped, wallTime: null, count: 7, untilAt };
    },
  },
  WindowSkipped: {
    weight: 1,
    given(world) {
      const { windowsWithRuns } = world.model;
      if (windowsWithRuns.length === 0) return null;
      const { shard, dagId, scheduleNo, name, firesAt, runId } = world.chance.one(windowsWithRuns);
      return { shard, dagId, scheduleNo, name, firesAt, runId: runId!, skipped: 'unmet' };
    },
  },
} satisfies Rules;

/** A new dag, or the next version of one where the shard has enough of them. */
export function deployIn(world: World, shard: ShardNo) {
  const { chance, dags, model } = world;
  const own = dags.filter((dag) => dag.shard === shard);
  const again = own.length >= MOST_DAGS ? chance.one(own) : null;
  const dagNo = again === null ? own.length + 1 : dagNoOf(again.dagId);
  const versionNo = again === null ? 1 : model.versions.filter(({ dagId }) => dagId === again.dagId).length + 1;
  const plain = deployed(shard, dagNo, versionNo, chance.tick());
  const onEvent = chance.is(0.3) ? { on: { event: `event ${versionNo}` } } : chance.is(0.3) ? { on: TRIGGERS } : {};
  const params = chance.is(0.3) ? { paramsSchema: { type: 'object', title: `"${versionNo}"` } } : {};
  const next = { ...plain, spec: { ...plain.spec, ...onEvent, ...params } };
  if (again === null) dags.push(next);
  else dags[dags.indexOf(again)] = next;
  const { kind: _kind, ...given } = next;
  return given;
}

/** Several are due at one instant. */
const drawDue = ({ chance }: World): Instant | null =>
  chance.one([null, RESIDENT, (1_767_000_000_000 + chance.one([1, 2, 3])) as Instant]);

const isRetired = ({ model }: World, dagId: number): boolean => model.dags.get(dagId as never)?.isRetired ?? false;

const schedulesOf = ({ model }: World, dagId: DagId): StoredSchedule[] =>
  [...model.schedules.values()].filter((schedule) => schedule.dagId === dagId);

function anyScheduleOf(world: World, dagId: DagId): StoredSchedule | null {
  const all = schedulesOf(world, dagId);
  return all.length === 0 ? null : world.chance.one(all);
}

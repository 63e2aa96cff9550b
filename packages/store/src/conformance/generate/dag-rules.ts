/** Dags and their schedules. */
import type { Instant, ShardNo } from '@signalbox/engine';
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
      const schedule = world.model.schedules.get(dagId);
      if (schedule !== undefined) world.emit('ScheduleRemoved', { shard, dagId, decidedUntil: schedule.decidedUntil });
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
      const known = world.model.schedules.get(dagId);
      const revision = (known?.revision ?? 0) + 1;
      const before = known?.decidedUntil ?? world.model.dags.get(dagId)?.windowsUntil ?? 0;
      const at = world.chance.tick();
      const decidedUntil = Math.max(before, at) as Instant;
      return { shard, dagId, revision, spec: { ...SCHEDULE, missedLimit: revision }, decidedUntil, at };
    },
  },
  ScheduleRemoved: {
    given(world) {
      const { shard, dagId } = world.dag();
      const known = world.model.schedules.get(dagId);
      return known === undefined ? null : { shard, dagId, decidedUntil: known.decidedUntil };
    },
  },
  WindowDecided: {
    weight: 3,
    given(world) {
      const { chance } = world;
      const dag = world.dag();
      const known = world.model.schedules.get(dag.dagId);
      if (known === undefined) return null;
      const firesAt = (known.decidedUntil + 1_000) as Instant;
      const window = { shard: dag.shard, dagId: dag.dagId, firesAt };
      if (chance.is(0.5)) {
        const { runId } = emitRun(world, dag, { firesAt, cause: 'schedule' });
        return { ...window, runId, skipped: null, wallTime: null, count: 1, untilAt: firesAt };
      }
      const skipped = chance.one(['gap', 'missed', 'paused'] as const);
      if (skipped === 'gap')
        return { ...window, runId: null, skipped, wallTime: '2026-03-29T02:30', count: 1, untilAt: firesAt };
      const untilAt = (firesAt + 60_000) as Instant;
      return { ...window, runId: null, skipped, wallTime: null, count: 7, untilAt };
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

const isRetired = ({ model }: World, dagId: number): boolean => model.dags.get(dagId as never)?.isRetired ?? false;

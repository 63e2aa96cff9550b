/** What users do about backfills: start, pause, resume and cancel them. */
import {
  BACKFILL_CHOICES,
  type BackfillSpec,
  type BackfillUid,
  type Command,
  type Instant,
  makeRunUid,
  type StartBackfill,
} from '@signalbox/engine';
import type { ModelTables } from '@signalbox/engine/testing';
import type { Chance } from './chance.ts';
import { PERIODS_MS } from './workload.ts';
import { WALL } from './zone.ts';

type OfDag = Pick<StartBackfill, 'shard' | 'tenantId' | 'dagId' | 'actor'>;

/** Windows of a range, at most. */
const MOST_WINDOWS = 12;

export function planBackfillUse(chance: Chance, tables: ModelTables, ofDag: OfDag, now: number): Command | null {
  const { shard, tenantId, dagId, actor } = ofDag;
  const known = tables.described
    .all('backfills')
    .filter((backfill) => backfill.dagId === dagId)
    .slice(-3);
  if (known.length > 0 && chance.happens(0.5)) {
    const to = chance.pick(['paused', 'running', 'running', 'cancelled'] as const);
    return { kind: 'SetBackfill', shard, tenantId, uid: chance.pick(known).uid, to, actor };
  }
  const schedules = [...tables.schedules.values()].filter(
    ({ dagId: of, spec }) => of === dagId && spec.run === undefined && spec.zone !== WALL,
  );
  if (schedules.length === 0) return null;
  const { scheduleNo, name: scheduleName, spec: schedule } = chance.pick(schedules);
  const periodMs = schedule.everyMs ?? PERIODS_MS[String(schedule.cron)] ?? 60_000;
  // Now and then up to this very moment, when a window may be due.
  const toAt = (chance.happens(0.4) ? now : now - chance.int(0, 5) * periodMs) as Instant;
  const fromAt = (toAt - chance.int(0, MOST_WINDOWS) * periodMs) as Instant;
  const spec: BackfillSpec = {
    ...{ scheduleNo, scheduleName, schedule, fromAt, toAt },
    which: chance.pick(BACKFILL_CHOICES),
    order: chance.pick(['forward', 'backward'] as const),
    maxActive: chance.int(1, 3),
    share: chance.pick([0.05, 0.5]),
  };
  const [a, b] = [Math.floor(chance.next() * 2 ** 48), Math.floor(chance.next() * 2 ** 26)];
  const uid = makeRunUid(shard, now as Instant, a, b) as string as BackfillUid;
  return { kind: 'StartBackfill', ...ofDag, uid, spec, windowCount: 0 };
}

/** One that is paused would never end. */
export function backfillsLeft(tables: ModelTables): readonly Command[] {
  return tables.described
    .all('backfills')
    .filter(({ state }) => state === 'paused')
    .map(({ shard, uid, tenantId, actor }) => ({ kind: 'SetBackfill', shard, tenantId, uid, to: 'running', actor }));
}

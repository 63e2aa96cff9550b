/** Runs that users ask for by the window of a schedule: one that has passed, now and then one that has a run or is none. */
import type { ChosenWindow, DagId, Instant } from '@signalbox/engine';
import type { ModelTables } from '@signalbox/engine/testing';
import type { Chance } from './chance.ts';
import { PERIODS_MS } from './workload.ts';
import { WALL } from './zone.ts';

/** Of how many of the newest windows. */
const NEWEST = 5;

/** Null when the dag has no schedule. */
export function planWindow(chance: Chance, tables: ModelTables, dagId: DagId, now: number): ChosenWindow | null {
  const schedules = [...tables.schedules.values()].filter(
    ({ dagId: of, spec }) => of === dagId && spec.run === undefined && spec.zone !== WALL,
  );
  if (schedules.length === 0) return null;
  const { name: schedule, spec } = chance.pick(schedules);
  if (spec.at !== undefined) return { schedule, at: Number(chance.pick(spec.at)) as Instant };
  const periodMs = spec.everyMs ?? PERIODS_MS[String(spec.cron)] ?? 60_000;
  const offsetMs = spec.everyMs === undefined ? 0 : Number(spec.anchor ?? 0) + (spec.phaseMs ?? 0);
  const last = Math.floor((now - offsetMs) / periodMs) * periodMs + offsetMs;
  const isWrong = chance.happens(0.05);
  return { schedule, at: (last - chance.int(0, NEWEST) * periodMs + (isWrong ? 1_234 : 0)) as Instant };
}

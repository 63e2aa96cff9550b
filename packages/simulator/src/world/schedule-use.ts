/** What users do to schedules without a deploy. */
import type { Command, Instant, ScheduleSpec, SetSchedulePaused } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import { planSchedule } from './workload.ts';
import { WALL } from './zone.ts';

type OfDag = Pick<SetSchedulePaused, 'shard' | 'tenantId' | 'dagId' | 'actor'>;

const NAMES = ['own', 'other', 'second', 'default'];

export function planScheduleUse(chance: Chance, ofDag: OfDag, now: Instant): Command {
  const once = chance.fork('once');
  if (once.happens(0.4)) return planOneOff(once, ofDag, now);
  const wall = chance.fork('time of the day');
  if (wall.happens(0.25)) return planDaily(wall, ofDag, now);
  const name = chance.pick(NAMES);
  const draw = chance.next();
  if (draw < 0.4) {
    const schedules = [{ name, spec: planSchedule(chance) }];
    if (chance.happens(0.2)) schedules.push({ name: chance.pick(NAMES), spec: planSchedule(chance) });
    return { kind: 'CreateSchedules', ...ofDag, schedules };
  }
  if (draw < 0.6) return { kind: 'EditSchedule', ...ofDag, name, spec: planSchedule(chance) };
  if (draw < 0.75) return { kind: 'DeleteSchedule', ...ofDag, name };
  return { kind: 'SetSchedulePaused', ...ofDag, name, paused: chance.happens(0.5) };
}

const DAILY = ['noon', 'dawn'];

/** A schedule that fires at a time of the day, soon: by newer zone data that time is another instant. */
function planDaily(chance: Chance, ofDag: OfDag, now: Instant): Command {
  const name = chance.pick(DAILY);
  const draw = chance.next();
  const spec = (): ScheduleSpec => {
    const {
      everyMs: _e,
      phaseMs: _p,
      anchor: _a,
      runNow: _r,
      jitterMs: _j,
      limit: _l,
      ...policy
    } = planSchedule(chance);
    const at = Math.floor((now + chance.int(1_000, 25_000)) / 1_000);
    const cron = `${at % 60} ${Math.floor(at / 60) % 60} ${Math.floor(at / 3_600) % 24} * * *`;
    return { ...policy, cron, zone: WALL, overlap: 'first', jitterMs: 0 };
  };
  if (draw < 0.75) return { kind: 'CreateSchedules', ...ofDag, schedules: [{ name, spec: spec() }] };
  if (draw < 0.85) return { kind: 'EditSchedule', ...ofDag, name, spec: spec() };
  if (draw < 0.9) return { kind: 'DeleteSchedule', ...ofDag, name };
  return { kind: 'SetSchedulePaused', ...ofDag, name, paused: chance.happens(0.5) };
}

const ONCE = ['once', 'later', 'soon'];

/** A schedule of one or two given times, which removes itself; now and then it is moved, paused or taken back before. */
function planOneOff(chance: Chance, ofDag: OfDag, now: Instant): Command {
  const name = chance.pick(ONCE);
  const draw = chance.next();
  const spec = (): ScheduleSpec => {
    const { cron: _cron, everyMs: _e, phaseMs: _p, anchor: _a, runNow: _runNow, ...policy } = planSchedule(chance);
    const first = now + chance.int(-2_000, 20_000);
    const at = chance.happens(0.7) ? [first] : [first, first + chance.int(1, 10_000)];
    return { ...policy, at: at as Instant[] };
  };
  if (draw < 0.7) return { kind: 'CreateSchedules', ...ofDag, schedules: [{ name, spec: spec() }] };
  if (draw < 0.8) return { kind: 'EditSchedule', ...ofDag, name, spec: spec() };
  if (draw < 0.87) return { kind: 'DeleteSchedule', ...ofDag, name };
  return { kind: 'SetSchedulePaused', ...ofDag, name, paused: chance.happens(0.4) };
}

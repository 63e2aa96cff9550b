/** What users do to schedules without a deploy. */
import type { Command, SetSchedulePaused } from '@signalbox/engine';
import type { Chance } from './chance.ts';
import { planSchedule } from './workload.ts';

const NAMES = ['own', 'other', 'second', 'default'];

export function planScheduleUse(
  chance: Chance,
  ofDag: Pick<SetSchedulePaused, 'shard' | 'tenantId' | 'dagId' | 'actor'>,
): Command {
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

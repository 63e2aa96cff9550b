/** Dags that are halted because they created too much: in some histories the limits are so low that it happens, and people resume them. */
import { type Actor, type Command, DEFAULT_SETTINGS, type EngineSettings } from '@signalbox/engine';
import type { FakeDatabase } from '../fake-store/index.ts';
import type { Chance } from './chance.ts';

/** Histories have some hundreds of tasks in all. */
export function haltSettings(chance: Chance): Partial<EngineSettings> {
  const drawn = chance.fork('halted dags');
  if (!drawn.happens(0.2)) return {};
  if (drawn.happens(0.5)) return { mostFanOut: drawn.int(6, 40) };
  return { mostLiveTasks: drawn.int(4, 30) };
}

/** A retry or a map may halt a dag at any time, also when nobody submits anything any more. */
export function mayHalt({ mostFanOut, mostLiveTasks }: EngineSettings): boolean {
  return mostFanOut < DEFAULT_SETTINGS.mostFanOut || mostLiveTasks < DEFAULT_SETTINGS.mostLiveTasks;
}

/** Somebody lets all of them go on. */
export function haltsLeft(tables: Pick<FakeDatabase['tables'], 'described'>, actor: Actor): Command[] {
  return tables.described
    .all('haltedDags')
    .map(({ shard, tenantId, dagId }) => ({ kind: 'ResumeDag', shard, tenantId, dagId, actor }));
}

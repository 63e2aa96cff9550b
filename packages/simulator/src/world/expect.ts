/** What dags expect, drawn, and events that come. */
import type { Command, DagId, DagSpec, ExpectSpec, ShardNo, TenantId } from '@signalbox/engine';
import type { Chance } from './chance.ts';

const NAMES = ['beat', 'file'];

export function planExpect(chance: Chance, spec: DagSpec): DagSpec {
  if (!chance.happens(0.3)) return spec;
  const expect = NAMES.filter(() => chance.happens(0.6)).map((name): ExpectSpec => {
    const common = { name, type: name };
    if (chance.happens(0.5)) return { ...common, withinMs: chance.int(3_000, 20_000) };
    return { ...common, by: { everyMs: chance.pick([5_000, 15_000]), zone: 'UTC', gap: 'skip' } };
  });
  return expect.length === 0 ? spec : { ...spec, expect };
}

export function planComing(
  chance: Chance,
  dag: { readonly shard: ShardNo; readonly tenantId: TenantId; readonly dagId: DagId },
): Command {
  return { kind: 'NoteEvent', ...dag, name: chance.pick(NAMES) };
}

/** From `expect` as it is written to what the engine has. */
import type { Problem } from '../errors.ts';
import type { Expected } from './expect-fields.ts';
import { type EventConditionShape, readWhere } from './read-triggers.ts';

export interface ExpectShape {
  readonly name: string;
  readonly type: string;
  readonly source?: string;
  readonly where?: EventConditionShape;
  readonly by?: { readonly cron: string; readonly zone: string; readonly gap: 'fire_after' };
  readonly withinMs?: number;
}

export function readExpect(
  { expect }: { readonly expect?: Expected | readonly Expected[] | undefined },
  problems: Problem[],
): { readonly expect?: readonly ExpectShape[] } {
  if (expect === undefined) return {};
  const list = [expect].flat() as readonly Expected[];
  const names = new Set<string>();
  const read = list.map((one, no) => {
    const path = Array.isArray(expect) ? `expect[${no}]` : 'expect';
    const shape = readOne(one, path, problems);
    if (names.has(shape.name))
      problems.push({ path: `${path}.name`, message: `${shape.name} is the name of another one: give each its own` });
    names.add(shape.name);
    return shape;
  });
  return { expect: read };
}

function readOne(
  { name, type, source, by, zone, within, ...one }: Expected,
  path: string,
  problems: Problem[],
): ExpectShape {
  if ((by === undefined) === (within === undefined))
    problems.push({ path: `${path}.by`, message: 'must be given, or within: exactly one of the two' });
  if (zone !== undefined && by === undefined) problems.push({ path: `${path}.zone`, message: 'goes with by' });
  const where = readWhere(one.where, `${path}.where`, problems);
  return {
    name: name ?? type,
    type,
    ...(source === undefined ? {} : { source }),
    ...(where === null ? {} : { where }),
    ...(by === undefined ? {} : { by: { cron: by, zone: zone ?? 'UTC', gap: 'fire_after' as const } }),
    ...(within === undefined ? {} : { withinMs: within }),
  };
}

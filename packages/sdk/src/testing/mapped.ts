/** What an instance of a mapped task receives in a test: its items, and the outputs of earlier tasks. */
import type { SendAssignment, TaskOutputs } from '@signalbox/engine';
import { type DagSpecShape, follow, type MapItem, type MapSourceShape } from '@signalbox/protocol';

/** What has been returned so far, by the number of the task. */
export interface Returned {
  readonly spec: DagSpecShape;
  readonly params: unknown;
  readonly outputs: ReadonlyMap<number, unknown>;
}

type Place = NonNullable<SendAssignment['map']>['places'][number];

/** `load[3]`, as everywhere. */
export function instanceName({ map }: SendAssignment, name: string): string {
  return `${name}${(map?.places ?? []).map(({ index }) => `[${index}]`).join('')}`;
}

export function itemsOf({ map }: SendAssignment, returned: Returned): MapItem[] {
  return (map?.places ?? []).map((place) => {
    const group = returned.spec.groups?.[place.group];
    const over = group?.map?.over ?? [];
    const values = over.map((source, at) => pick(source, place, at, returned) ?? null);
    const names = over.map(({ name }) => name);
    const item = names[0] === undefined ? values[0] : Object.fromEntries(names.map((name, at) => [name, values[at]]));
    return { group: group?.name ?? '', index: place.index, item: structuredClone(item) };
  });
}

function pick(source: MapSourceShape, place: Place, at: number, { spec, params, outputs }: Returned): unknown {
  const no = place.picks[at] ?? 0;
  if (source.from === 'list') return source.items[no];
  const of = place.sources[at] ?? null;
  if (of?.of === 'instances') return seenOutput(of, outputs, no);
  const root = of === null ? params : outputs.get(of.no);
  const paths = source.from === 'params' ? spec.paramFacts : spec.tasks[source.task]?.facts;
  return follow(root, [...(paths?.[source.fact] ?? []), no]);
}

/** By name; of a mapped task a list, in the order of the items. */
export function upstreamOf(sent: SendAssignment, { spec, outputs }: Returned): Record<string, unknown> {
  return Object.fromEntries(
    sent.succeededUpstream.map((no, at) => {
      const of = sent.map?.upstream[at] ?? { of: 'task' as const, no };
      const output = of.of === 'task' ? outputs.get(of.no) : listOf(of, outputs);
      return [spec.tasks[no]?.name ?? '', output];
    }),
  );
}

type Instances = Extract<TaskOutputs, { of: 'instances' }>;

function listOf(of: Instances, outputs: ReadonlyMap<number, unknown>): unknown[] {
  const count = of.ranges.reduce((sum, range) => sum + range.count, 0);
  return Array.from({ length: count }, (_, at) => seenOutput(of, outputs, at));
}

function seenOutput({ ranges, except }: Instances, outputs: ReadonlyMap<number, unknown>, at: number): unknown {
  let left = at;
  for (const { from, step, count } of ranges) {
    const no = from + left * step;
    if (left < count) return except.includes(no) ? null : (outputs.get(no) ?? null);
    left -= count;
  }
  return null;
}

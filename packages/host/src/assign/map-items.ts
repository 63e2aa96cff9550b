/** Which item of each of its maps a claim is for, in the form that the worker receives. */
import type { MapSource, Path, SendAssignment, TaskNo } from '@signalbox/engine';
import { type PayloadKey, readLargeOutput } from '@signalbox/store';
import type { MapPlace } from '../ports.ts';
import type { MapLists } from './map-lists.ts';
import { numberAt } from './output-numbers.ts';

type Mapped = Pick<SendAssignment, 'claim' | 'map' | 'version'>;
type Place = NonNullable<SendAssignment['map']>['places'][number];
export type Inputs = (key: PayloadKey) => string | null | undefined;

/** What a definition says of a list, and the engine has no use for. */
interface Written {
  readonly name?: string;
  readonly items?: readonly unknown[];
}

/** What must be at hand before the items can be told. */
export function itemKeys({ claim: { runId }, map }: Mapped): PayloadKey[] {
  const keys: PayloadKey[] = [];
  for (const { sources, picks } of map?.places ?? []) {
    sources.forEach((source, at) => {
      const no = source === null ? null : source.of === 'task' ? source.no : numberAt(source, picks[at] ?? 0);
      if (no !== null) keys.push({ runId, taskNo: no as TaskNo });
    });
  }
  return keys;
}

/** The part that is stored elsewhere and not known yet. */
export function largeItemKeys(effect: SendAssignment, inputs: Inputs, lists: MapLists): PayloadKey[] {
  const { runId } = effect.claim;
  return itemKeys(effect).flatMap((key) => {
    const text = inputs(key) ?? null;
    const large = text === null ? null : readLargeOutput(text);
    if (text === null || large === null || lists.has(runId, key.taskNo, text)) return [];
    return [{ ...key, large: large.row }];
  });
}

export function mapPlaces(effect: Mapped, inputs: Inputs, lists: MapLists): readonly MapPlace[] {
  const { version } = effect;
  return (effect.map?.places ?? []).map((place) => {
    const group = version.spec.groups?.[place.group];
    const over = group?.map?.over ?? [];
    const values = over.map((source, at) => valueOf(effect, { source, place, at }, inputs, lists));
    const names = over.map((source) => (source as Written).name);
    const item = names[0] === undefined ? values[0] : Object.fromEntries(names.map((name, at) => [name, values[at]]));
    return { group: group?.name ?? '', index: place.index, item: JSON.stringify(item ?? null) };
  });
}

function valueOf(
  { claim: { runId }, version: { spec } }: Mapped,
  { source, place, at }: { readonly source: MapSource; readonly place: Place; readonly at: number },
  inputs: Inputs,
  lists: MapLists,
): unknown {
  const pick = place.picks[at] ?? 0;
  if (source.from === 'list') return (source as Written).items?.[pick];
  const outputs = place.sources[at] ?? null;
  const isInstance = outputs !== null && outputs.of === 'instances';
  const no = outputs === null ? null : isInstance ? numberAt(outputs, pick) : outputs.no;
  const key: PayloadKey = { runId, taskNo: no as TaskNo | null };
  // An instance that was left out has no output.
  const text = isInstance && no === null ? null : (inputs(key) ?? null);
  if (text === null) return null;
  const large = readLargeOutput(text);
  const whole = () => (large === null ? text : (inputs({ ...key, large: large.row }) ?? 'null'));
  // All that an instance has returned is the item: there is no list to look for.
  if (isInstance) return JSON.parse(whole()) as unknown;
  const paths = source.from === 'params' ? spec.paramFacts : spec.tasks[source.task]?.facts;
  const list = follow(lists.get(runId, no, text, whole), paths?.[source.fact] ?? []);
  return Array.isArray(list) ? list[pick] : null;
}

function follow(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[step];
  }
  return value;
}

/** The number of items of a map: a pure function of the ended tasks above it, and of facts. */

import type { MapSource } from '../../model/dag/spec.ts';
import { MAX_RUN_TASKS } from '../../model/dag/spec.ts';
import type { MappedGroup } from '../../model/map/shape.ts';
import type { Fact } from '../../model/task/fact.ts';
import { SKIPPED, SUCCEEDED } from '../../model/task/task-states.ts';
import { hasEnded, type RunTasksView, slotIn } from '../run-tasks-view.ts';
import { openOf } from './tally.ts';

type ResolvedMap =
  /** Something that it runs over has not ended. */
  | { readonly is: 'open' }
  /** … failed, or was skipped: its tasks never run. */
  | { readonly is: 'failed' | 'skipped' }
  /** There is no telling, or there are too many. */
  | { readonly is: 'faulty'; readonly fault: string }
  | { readonly is: 'known'; readonly total: number; readonly lengths: readonly number[] };

type Look = Pick<RunTasksView, 'graph' | 'columns' | 'base' | 'facts' | 'maps'>;

/** The map that a placeholder waits for. */
export function resolveMap(view: Look, placeholder: number): ResolvedMap {
  const maps = view.maps!;
  const group = maps.waitsFor(placeholder)!;
  const found = group.map.over.map((source, at) => lengthOf(view, placeholder, group, source, at));
  for (const is of ['failed', 'open', 'skipped'] as const) if (found.includes(is)) return { is };
  const lengths: number[] = [];
  for (const one of found) {
    if (typeof one === 'object') return { is: 'faulty', ...one };
    lengths.push(one as number);
  }
  const { mode } = group.map;
  if (mode === 'zip' && lengths.some((length) => length !== lengths[0])) {
    const listed = lengths.map(spell).join(', ');
    return {
      is: 'faulty',
      fault: `The map ${group.name} takes its lists side by side, and they have ${listed} items.`,
    };
  }
  const total = mode === 'zip' ? (lengths[0] ?? 0) : lengths.reduce((product, length) => product * length, 1);
  const { maxMapSize } = maps.shape;
  if (total > maxMapSize) {
    const limit = `the limit is ${spell(maxMapSize)}: raise maxMapSize of the dag, or map over fewer`;
    return { is: 'faulty', fault: `The map ${group.name} gave ${spell(total)} items; ${limit}.` };
  }
  if (maps.expansionOf(placeholder)?.total === 0) {
    const most = `a run may have ${spell(MAX_RUN_TASKS)} tasks in all`;
    return { is: 'faulty', fault: `The map ${group.name} gave ${spell(total)} items, and ${most}.` };
  }
  return { is: 'known', total, lengths };
}

/** Which item of each list an instance is for. */
export function picksOf({ map }: MappedGroup, lengths: readonly number[], index: number): number[] {
  if (map.mode === 'zip') return lengths.map(() => index);
  const picks = lengths.slice();
  let rest = index;
  for (let at = lengths.length - 1; at >= 0; at--) {
    picks[at] = rest % lengths[at]!;
    rest = Math.floor(rest / lengths[at]!);
  }
  return picks;
}

type Found = number | 'open' | 'failed' | 'skipped' | { readonly fault: string };

function lengthOf(view: Look, no: number, group: MappedGroup, source: MapSource, at: number): Found {
  if (source.from === 'list') return source.length;
  const what = `What the map ${group.name} runs over${group.map.over.length > 1 ? ` (list ${at + 1})` : ''}`;
  if (source.from === 'params') return lengthOfFact(view.facts?.ofParams(source.fact), what);
  const { graph, columns, facts } = view;
  const maps = view.maps!;
  const up = maps.near(no, source.task);
  const isWhole = graph.factPaths[source.task]?.[source.fact]?.length === 0;
  const expansion = maps.expansionOf(up);
  if (expansion !== undefined && expansion.total > 0) {
    const all = expansion.tallies[expansion.group.placeOf.get(source.task)!]!;
    if (all.failed + all.upstreamFailed > 0) return 'failed';
    if (openOf(all) > 0) return 'open';
    if (all.skipped > 0) return 'skipped';
    // Of a mapped task there is one list: that of the outputs of its instances.
    const fault = `${what} is in the outputs of a mapped task: only the list of them can be mapped over.`;
    return isWhole ? all.size : { fault };
  }
  const code = columns.state[slotIn(view, up)]!;
  if (!hasEnded(code)) return 'open';
  if (code === SKIPPED) return 'skipped';
  if (code !== SUCCEEDED) return 'failed';
  if (maps.waitsFor(up) !== undefined) return 0;
  if (facts?.stops(up) === true) return 'skipped';
  return lengthOfFact(facts?.ofTask(up, source.fact), what);
}

function lengthOfFact(fact: Fact | undefined, what: string): Found {
  if (fact === undefined) return { fault: `${what} is not there.` };
  if ('of' in fact) return fact.of === 'list' ? fact.length : { fault: `${what} is a large ${fact.of}, not a list.` };
  if (Array.isArray(fact.v)) return fact.v.length;
  const kind = fact.v === null ? 'not there' : typeof fact.v === 'object' ? 'an object, not a list' : 'not a list';
  return { fault: `${what} is ${kind}.` };
}

function spell(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

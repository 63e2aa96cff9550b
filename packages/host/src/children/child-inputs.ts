/** What a task that runs another dag can use of its own run to build the params of the child run. */
import type { SendCall, TaskNo } from '@signalbox/engine';
import { type PayloadKey, readLargeOutput } from '@signalbox/store';
import { type Inputs, itemKeys, mapPlaces } from '../assign/map-items.ts';
import { MapLists } from '../assign/map-lists.ts';
import { countOf, numbersOf } from '../assign/output-numbers.ts';
import { outputsOf } from '../assign/upstream.ts';
import type { Payloads } from '../payloads.ts';
import type { VisibleOutputs } from '../ports.ts';
import { toldOfRun } from '../run-info.ts';

/** All of it is parsed beside the scheduling loop: more would hold that up (D12). */
export const MOST_READ_CHARS = 4 * 1024 * 1024;
const MOST_READ = 10_000;

/** Null when it is too much. */
export async function visibleTo(
  effect: SendCall,
  payloads: Pick<Payloads, 'fetch' | 'fetchWhole'>,
): Promise<VisibleOutputs | null> {
  const { claim, version } = effect;
  const { runId } = claim;
  const outputs = outputsOf(effect);
  const count = outputs.reduce((sum, each) => sum + (each.of === 'task' ? 1 : countOf(each)), 0);
  if (count > MOST_READ) return null;
  const numbers = outputs.map((each) => (each.of === 'task' ? [each.no] : [...numbersOf(each)]));
  const keys: PayloadKey[] = [...itemKeys(effect), ...(effect.hasParams ? [{ runId, taskNo: null }] : [])];
  for (const no of numbers.flat()) if (no !== null) keys.push({ runId, taskNo: no as TaskNo });
  const placeOf = await payloads.fetch(keys);
  if (charsIn(keys, placeOf) > MOST_READ_CHARS) return null;
  const textOf = await payloads.fetchWhole(keys);
  const nameOf = (no: number) => version.task(no as TaskNo).name;
  const upstream = new Map<string, string>();
  effect.succeededUpstream.forEach((up, at) => {
    const texts = numbers[at]!.map((no) => (no === null ? null : textOf({ runId, taskNo: no as TaskNo })));
    const text = outputs[at]!.of === 'task' ? texts[0] : `[${texts.map((each) => each ?? 'null').join(',')}]`;
    if (typeof text === 'string') upstream.set(nameOf(up), text);
  });
  return {
    params: effect.hasParams ? textOf({ runId, taskNo: null }) : null,
    upstream,
    absent: [...effect.failedUpstream, ...effect.missingUpstream].map(nameOf),
    map: effect.map === null ? [] : mapPlaces(effect, textOf, new MapLists()),
    run: runOf(effect),
  };
}

export function runOf({ runUid, version, runInfo }: SendCall): VisibleOutputs['run'] {
  return { id: runUid, dag: version.dag.name, ...(runInfo === null ? {} : toldOfRun(runInfo)) };
}

/** Includes those that are stored elsewhere. */
export function charsIn(keys: readonly PayloadKey[], placeOf: Inputs): number {
  let chars = 0;
  for (const key of keys) {
    const text = placeOf(key) ?? '';
    chars += readLargeOutput(text)?.bytes ?? text.length;
  }
  return chars;
}

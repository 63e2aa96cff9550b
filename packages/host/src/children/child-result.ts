/** What a parent learns about its child run. */
import type { TaskNo, TellParent } from '@signalbox/engine';
import type { PayloadKey } from '@signalbox/store';
import type { Inputs } from '../assign/map-items.ts';
import { countOf, numbersOf } from '../assign/output-numbers.ts';

/** The same limit as for the output of a task. */
export const MOST_OUTPUT_BYTES = 256 * 1024;

/** No more than this many instances of mapped leaves: each is at least four characters of the list that they become. */
const MOST_OUTPUTS = MOST_OUTPUT_BYTES / 5;

/** What must be read for it; null when it is too much in any case. */
export function outputKeys({ runId, outputs }: TellParent): PayloadKey[] | null {
  const keys: PayloadKey[] = [];
  for (const { at } of outputs) {
    if (at.of === 'task') keys.push({ runId, taskNo: at.no as TaskNo });
    else {
      if (keys.length + countOf(at) > MOST_OUTPUTS) return null;
      for (const no of numbersOf(at)) if (no !== null) keys.push({ runId, taskNo: no as TaskNo });
    }
  }
  return keys;
}

/**
 * An object of what its leaves left, by their names, as JSON; null when that is too large (I56). A leaf without output is null; of a
 * mapped one it is a list.
 */
export function childOutput({ runId, outputs }: TellParent, textOf: Inputs): string | null {
  const textAt = (no: number | null) => (no === null ? null : textOf({ runId, taskNo: no as TaskNo })) ?? 'null';
  const parts = outputs.map(({ name, at }) => {
    const text = at.of === 'task' ? textAt(at.no) : `[${Array.from(numbersOf(at), textAt).join(',')}]`;
    return `${JSON.stringify(name)}:${text}`;
  });
  const text = `{${parts.join(',')}}`;
  return Buffer.byteLength(text) > MOST_OUTPUT_BYTES ? null : text;
}

export function childError({ uid, dag, end, failed }: TellParent): string {
  const run = `Run ${uid} of dag ${dag}`;
  if (end === 'cancelled') return `${run} was cancelled.`;
  if (end === 'set_aside') return `${run} was set aside: deciding about it went wrong.`;
  return failed.length === 0 ? `${run} failed.` : `${run} failed: ${failed.join(', ')}.`;
}

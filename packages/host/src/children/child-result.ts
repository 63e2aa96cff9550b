/** What a parent is told of its child run. */
import type { TellParent } from '@signalbox/engine';
import type { Inputs } from '../effects.ts';

/** As for what a task returns. */
const MOST_OUTPUT_BYTES = 256 * 1024;

/** An object of what its leaves left, by their names, as JSON; null when that is too large (I56). A leaf without output is null. */
export function childOutput({ runId, outputs }: TellParent, textOf: Inputs): string | null {
  const parts = outputs.map(({ taskNo, name }) => `${JSON.stringify(name)}:${textOf({ runId, taskNo }) ?? 'null'}`);
  const text = `{${parts.join(',')}}`;
  return Buffer.byteLength(text) > MOST_OUTPUT_BYTES ? null : text;
}

export function childError({ uid, dag, end, failed }: TellParent): string {
  const run = `Run ${uid} of dag ${dag}`;
  if (end === 'cancelled') return `${run} was cancelled.`;
  if (end === 'set_aside') return `${run} was set aside: deciding about it went wrong.`;
  return failed.length === 0 ? `${run} failed.` : `${run} failed: ${failed.join(', ')}.`;
}

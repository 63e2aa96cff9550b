/**
 * The outputs of earlier tasks that a claim can see. Small outputs travel with the assignment. For large outputs, and for
 * maps with more instances than can be looked through quickly, the worker is told how to fetch them.
 */
import type { SendAssignment, TaskNo, TaskOutputs } from '@signalbox/engine';
import { type PayloadKey, readLargeOutput } from '@signalbox/store';
import type { Assignment, OutputRef, Tokens } from '../ports.ts';
import type { Inputs } from './map-items.ts';
import { countOf, numbersOf } from './output-numbers.ts';
import { packOutputs } from './output-seal.ts';

/** One output that is sent along, and all of them. */
export const MOST_OUTPUT_BYTES = 64 * 1024;
const MOST_SENT_BYTES = 1024 * 1024;
/** Outputs of so many instances are looked at to see whether they are small together. */
const MOST_GATHERED = 200;

export type Upstream = Pick<Assignment, 'upstream' | 'references'>;
const NONE: Upstream = { upstream: [], references: [] };

/** Where the outputs of each task before this one are. */
export function outputsOf({
  succeededUpstream,
  map,
}: Pick<SendAssignment, 'succeededUpstream' | 'map'>): TaskOutputs[] {
  return succeededUpstream.map((no, at) => map?.upstream[at] ?? { of: 'task', no });
}

/** What must be at hand before they can be sent. Not of a task that may still succeed: that it has none yet would be remembered. */
export function upstreamKeys(effect: SendAssignment): PayloadKey[] {
  const { runId } = effect.claim;
  return outputsOf(effect).flatMap((outputs): PayloadKey[] => {
    if (outputs.of === 'task') return [{ runId, taskNo: outputs.no as TaskNo }];
    if (countOf(outputs) > MOST_GATHERED) return [];
    return [...numbersOf(outputs)].flatMap((no) => (no === null ? [] : [{ runId, taskNo: no as TaskNo }]));
  });
}

export function upstreamOf(effect: SendAssignment, inputs: Inputs, tokens: Pick<Tokens, 'seal'>): Upstream {
  const { claim, shard, version, succeededUpstream, map } = effect;
  // By far the most common case: what is upstream has returned nothing.
  if (map === null && !succeededUpstream.some((no) => hasOutput(effect, no, inputs))) return NONE;
  const upstream: { taskName: string; output: string }[] = [];
  const references: OutputRef[] = [];
  let sent = 0;
  outputsOf(effect).forEach((outputs, at) => {
    const taskName = version.task(succeededUpstream[at] as TaskNo).name;
    const found = textOf(effect, outputs, inputs);
    if (found === null) return;
    const { output, bytes } = found;
    if (output !== null && bytes <= MOST_OUTPUT_BYTES && sent + bytes <= MOST_SENT_BYTES) {
      sent += bytes;
      upstream.push({ taskName, output });
    } else references.push({ taskName, id: tokens.seal(shard, claim, packOutputs(outputs)), bytes });
  });
  return { upstream, references };
}

function hasOutput({ claim: { runId } }: SendAssignment, no: number, inputs: Inputs): boolean {
  return typeof inputs({ runId, taskNo: no as TaskNo }) === 'string';
}

/** Null for a task without an output; `output` is null when it is too large to be looked at here. */
function textOf({ claim: { runId } }: SendAssignment, outputs: TaskOutputs, inputs: Inputs): Found | null {
  if (outputs.of === 'task') {
    const text = inputs({ runId, taskNo: outputs.no as TaskNo });
    return typeof text === 'string' ? measure(text) : null;
  }
  if (countOf(outputs) > MOST_GATHERED) return { output: null, bytes: 0 };
  const texts: string[] = [];
  let bytes = 1;
  for (const no of numbersOf(outputs)) {
    const text = no === null ? null : (inputs({ runId, taskNo: no as TaskNo }) ?? null);
    const found = measure(text ?? 'null');
    bytes += found.bytes + 1;
    if (found.output === null || bytes > MOST_OUTPUT_BYTES) return { output: null, bytes: 0 };
    texts.push(found.output);
  }
  return { output: `[${texts.join(',')}]`, bytes };
}

interface Found {
  readonly output: string | null;
  readonly bytes: number;
}

function measure(text: string): Found {
  const large = readLargeOutput(text);
  if (large !== null) return { output: null, bytes: large.bytes };
  return { output: text, bytes: Buffer.byteLength(text) };
}

/**
 * The contents of a sealed text about outputs. The owner of a run seals which outputs a claim may see, as decided (I36). The
 * data service seals which output an attempt has stored. A seal is valid for its claim only, and nobody else can make one.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { NumberRange, TaskOutputs } from '@signalbox/engine';

/** Short for what may have thousands of them. */
type Packed = { readonly t: number } | { readonly r: readonly number[]; readonly x: readonly number[] };

export function packOutputs(outputs: TaskOutputs): string {
  const packed: Packed =
    outputs.of === 'task'
      ? { t: outputs.no }
      : { r: outputs.ranges.flatMap(({ from, step, count }) => [from, step, count]), x: outputs.except };
  return deflateRawSync(JSON.stringify(packed)).toString('base64url');
}

/** Reads a text that we have sealed ourselves. */
export function unpackOutputs(text: string): TaskOutputs {
  const packed = JSON.parse(inflateRawSync(Buffer.from(text, 'base64url')).toString()) as Packed;
  if ('t' in packed) return { of: 'task', no: packed.t };
  const ranges: NumberRange[] = [];
  for (let i = 0; i + 2 < packed.r.length; i += 3) {
    const [from = 0, step = 1, count = 0] = packed.r.slice(i, i + 3);
    ranges.push({ from, step, count });
  }
  return { of: 'instances', ranges, except: packed.x };
}

/** What an attempt has stored before its report: where, and what decisions need of it. */
export interface SealedOutput {
  /** The reference of the store: `@<row>:<bytes>`. */
  readonly text: string;
  readonly facts: { readonly ok: true; readonly text: string | null } | { readonly ok: false; readonly error: string };
}

/**
 * How long the finished instances of a mapped task took, in buckets an eighth of an octave apart: one kilobyte for ten or a
 * hundred thousand instances, and their median to within a tenth. Nothing of it is stored; the rows give it again on load.
 */
import type { SpeculateSpec } from '../../model/dag/spec.ts';

const PER_OCTAVE = 8;
/** Beyond 2^31 ms, 25 days, all take equally long. */
const BUCKETS = 31 * PER_OCTAVE + 1;
/** Unless told, half of the siblings must have finished, or this many. */
const ENOUGH = 100;

export class Pace {
  private readonly buckets = new Uint32Array(BUCKETS);
  count = 0;

  add(ms: number): void {
    this.buckets[bucketOf(ms)]! += 1;
    this.count += 1;
  }

  /** Half of them took no longer than this. */
  medianMs(): number {
    const half = Math.ceil(this.count / 2);
    let seen = 0;
    for (let i = 0; i < BUCKETS; i++) {
      seen += this.buckets[i]!;
      if (seen >= half) return 2 ** (i / PER_OCTAVE);
    }
    return 0;
  }

  /** How long an attempt takes that takes too long; null while too few have finished to tell. */
  limitMs({ factor, minMs, minimum }: SpeculateSpec, siblings: number): number | null {
    const enough = minimum ?? Math.min(ENOUGH, Math.ceil(siblings / 2));
    if (this.count === 0 || this.count < enough) return null;
    return Math.max(minMs, factor * this.medianMs());
  }
}

/** Upwards: who is called slow is at least as slow as that. */
function bucketOf(ms: number): number {
  return Math.min(BUCKETS - 1, Math.ceil(PER_OCTAVE * Math.log2(Math.max(1, ms))));
}

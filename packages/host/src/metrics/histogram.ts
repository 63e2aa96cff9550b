/** Counts values by upper bound. The last count is for values above all bounds. */
export interface HistogramSeen {
  readonly bounds: readonly number[];
  /** One more than there are bounds; each value is in one of them. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export class Histogram {
  private readonly bounds: readonly number[];
  private readonly counts: number[];
  private sum = 0;
  private count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  add(value: number): void {
    let at = 0;
    while (at < this.bounds.length && value > this.bounds[at]!) at += 1;
    this.counts[at]! += 1;
    this.sum += value;
    this.count += 1;
  }

  seen(): HistogramSeen {
    return { bounds: this.bounds, counts: [...this.counts], sum: this.sum, count: this.count };
  }
}

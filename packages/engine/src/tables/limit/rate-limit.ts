/**
 * A limit of starts per time: in any time of its length no more attempts start than it allows. Starts are counted in spans, each a
 * twentieth of that time, and a span counts until it lies back by the whole time. So a start counts for up to 21/20 of the time.
 */
import type { RateSpec } from '../../model/dag/spec.ts';
import type { Instant, ShardNo } from '../../model/ids.ts';
import type { LimitName } from '../../model/limit.ts';
import { LaneLimit } from './lane-limit.ts';

const SPANS = 20;

interface Span {
  readonly untilAt: number;
  readonly starts: number;
}

interface TableOfRates {
  watch(rate: RateLimit): void;
}

export class RateLimit extends LaneLimit {
  readonly shard: ShardNo;
  /** By the instant at which they begin. */
  private readonly spans = new Map<number, Span>();
  private started = 0;
  /** Place among those with starts that count; -1: it has none. */
  place = -1;
  /** When the first of its spans counts no more. */
  firstFreeAt = Number.POSITIVE_INFINITY;
  /** What its dag says today (null: nothing); null while the dag is not in memory. */
  source: (() => RateSpec | null) | null = null;
  private readonly table: TableOfRates;

  constructor(shard: ShardNo, name: LimitName, table: TableOfRates) {
    super(name);
    this.shard = shard;
    this.table = table;
  }

  get rate(): RateSpec | null {
    return this.source?.() ?? null;
  }

  get isIdle(): boolean {
    return this.spans.size === 0;
  }

  get room(): number {
    const { rate } = this;
    return rate === null ? Number.POSITIVE_INFINITY : rate.limit - this.started;
  }

  /** It counts starts, not what runs. */
  override use(): void {}

  /** The span that a start belongs to, with how many it has then, and until when they count. */
  spanAt(now: Instant): { readonly fromAt: Instant; readonly untilAt: Instant; readonly starts: number } {
    const perMs = this.rate?.perMs ?? 0;
    const widthMs = Math.max(1, Math.floor(perMs / SPANS));
    const fromAt = Math.floor(now / widthMs) * widthMs;
    const known = this.spans.get(fromAt);
    // After a change of the rate a span that counts for longer may begin at the same instant.
    const untilAt = Math.max(fromAt + widthMs + perMs, known?.untilAt ?? 0);
    return { fromAt: fromAt as Instant, untilAt: untilAt as Instant, starts: (known?.starts ?? 0) + 1 };
  }

  set(fromAt: Instant, { untilAt, starts }: Span): void {
    this.started += starts - (this.spans.get(fromAt)?.starts ?? 0);
    this.spans.set(fromAt, { untilAt, starts });
    this.changed();
  }

  free(fromAt: Instant): void {
    this.started -= this.spans.get(fromAt)?.starts ?? 0;
    this.spans.delete(fromAt);
    this.changed();
  }

  private changed(): void {
    let first = Number.POSITIVE_INFINITY;
    for (const { untilAt } of this.spans.values()) if (untilAt < first) first = untilAt;
    this.firstFreeAt = first;
    this.table.watch(this);
    this.settle();
  }

  /** When one more attempt may start; null: now. */
  freeAt(): Instant | null {
    const { rate } = this;
    if (rate === null || this.room >= 1) return null;
    let left = this.started;
    for (const { untilAt, starts } of [...this.spans.values()].sort((a, b) => a.untilAt - b.untilAt)) {
      left -= starts;
      if (left < rate.limit) return untilAt as Instant;
    }
    return null;
  }

  /** Spans that count no more. */
  over(now: Instant): readonly Instant[] {
    return [...this.spans].filter(([, { untilAt }]) => untilAt <= now).map(([fromAt]) => fromAt as Instant);
  }
}

/**
 * A limit of starts per time: in any time of its length no more attempts start than it allows. Starts are counted in spans, each a
 * twentieth of that time, and a span counts until it lies back by the whole time. So a start counts for up to 21/20 of the time.
 *
 * A span is stored by the wall clock of the owner that wrote it. While an owner has it, it counts by the clock that never jumps: a
 * clock that is set back by hours must not hold tasks back for hours (I72).
 */
import type { RateSpec } from '../../model/dag/spec.ts';
import type { Instant, ShardNo } from '../../model/ids.ts';
import type { LimitName } from '../../model/limit.ts';
import { waitLeftMs } from '../timer/stored-wait.ts';
import { LaneLimit } from './lane-limit.ts';

const SPANS = 20;

/** As it is stored: by the wall clock. */
interface StoredSpan {
  readonly fromAt: Instant;
  readonly untilAt: Instant;
  readonly starts: number;
}

interface Span extends StoredSpan {
  /** When it counts no more, by the clock that never jumps. */
  readonly freeAt: number;
}

interface Clocks {
  readonly now: Instant;
  readonly mono: number;
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
  /** When the first of its spans counts no more, by the clock that never jumps. */
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

  /** Starts that count. */
  get count(): number {
    return this.started;
  }

  /** The span that a start belongs to, with how many it has then, and until when they count. */
  spanAt(now: Instant, count = 1, perMs = this.rate?.perMs ?? 0): StoredSpan {
    const widthMs = Math.max(1, Math.floor(perMs / SPANS));
    const fromAt = (Math.floor(now / widthMs) * widthMs) as Instant;
    const known = this.spans.get(fromAt);
    // After a change of the rate a span that counts for longer may begin at the same instant.
    const untilAt = Math.max(fromAt + widthMs + perMs, known?.untilAt ?? 0) as Instant;
    return { fromAt, untilAt, starts: (known?.starts ?? 0) + count };
  }

  set({ fromAt, untilAt, starts }: StoredSpan, { now, mono }: Clocks): void {
    const known = this.spans.get(fromAt);
    this.started += starts - (known?.starts ?? 0);
    // A clock that was set back comes to the same span again: its newest start counts in full.
    const freeAt = Math.max(mono + waitLeftMs({ now }, { from: fromAt, until: untilAt }), known?.freeAt ?? 0);
    this.spans.set(fromAt, { fromAt, untilAt, starts, freeAt });
    this.changed();
  }

  free(fromAt: Instant): void {
    this.started -= this.spans.get(fromAt)?.starts ?? 0;
    this.spans.delete(fromAt);
    this.changed();
  }

  private changed(): void {
    let first = Number.POSITIVE_INFINITY;
    for (const { freeAt } of this.spans.values()) if (freeAt < first) first = freeAt;
    this.firstFreeAt = first;
    this.table.watch(this);
    this.settle();
  }

  /** When one more attempt may start; null: now. */
  roomAt({ now, mono }: Clocks): Instant | null {
    const { rate } = this;
    if (rate === null || this.room >= 1) return null;
    return (now + this.waitMs(rate.limit - 1, mono)) as Instant;
  }

  /** How long until no more than so many starts count. */
  waitMs(most: number, mono: number): number {
    let left = this.started;
    let waitMs = 0;
    for (const { freeAt, starts } of [...this.spans.values()].sort((a, b) => a.freeAt - b.freeAt)) {
      if (left <= most) break;
      left -= starts;
      waitMs = Math.max(0, Math.ceil(freeAt - mono));
    }
    return waitMs;
  }

  /** When each of its spans begins. */
  starts(): readonly Instant[] {
    return [...this.spans.values()].map(({ fromAt }) => fromAt);
  }

  /** Spans that count no more. */
  over(mono: number): readonly Instant[] {
    return [...this.spans.values()].filter(({ freeAt }) => freeAt <= mono).map(({ fromAt }) => fromAt);
  }
}

/** How many tasks of each queue were started in the last minute, so that it can be told when what waits will have started. */
import type { QueueName, TenantId } from '@signalbox/engine';
import type { Clock } from '../ports.ts';

const STEP_MS = 10_000;
const STEPS = 6;

/** Starts by step; `step` is the number of the newest one. */
interface Ring {
  readonly counts: number[];
  step: number;
}

export class StartRates {
  private readonly clock: Pick<Clock, 'mono'>;
  private readonly beganAt: number;
  private readonly rings = new Map<QueueName, Map<TenantId, Ring>>();

  constructor(clock: Pick<Clock, 'mono'>) {
    this.clock = clock;
    this.beganAt = clock.mono();
  }

  note(tenantId: TenantId, queue: QueueName): void {
    const ring = this.ringOf(tenantId, queue);
    this.turn(ring);
    ring.counts[ring.step % STEPS]! += 1;
  }

  /** A server that has run for less than a minute extrapolates; one of the first seconds knows nothing yet. */
  perMinute(tenantId: TenantId, queue: QueueName): number {
    const ring = this.rings.get(queue)?.get(tenantId);
    const seenMs = Math.min(this.clock.mono() - this.beganAt, this.coveredMs());
    if (ring === undefined || seenMs <= 0) return 0;
    this.turn(ring);
    return (ring.counts.reduce((sum, count) => sum + count, 0) * 60_000) / seenMs;
  }

  private ringOf(tenantId: TenantId, queue: QueueName): Ring {
    const ofQueue = this.rings.get(queue) ?? new Map<TenantId, Ring>();
    this.rings.set(queue, ofQueue);
    const ring = ofQueue.get(tenantId) ?? { counts: Array.from({ length: STEPS }, () => 0), step: this.step() };
    ofQueue.set(tenantId, ring);
    return ring;
  }

  private step(): number {
    return Math.floor(this.clock.mono() / STEP_MS);
  }

  /** The newest step has only begun. */
  private coveredMs(): number {
    return (STEPS - 1) * STEP_MS + (this.clock.mono() % STEP_MS);
  }

  private turn(ring: Ring): void {
    const step = this.step();
    for (let next = Math.max(ring.step + 1, step - STEPS + 1); next <= step; next++) ring.counts[next % STEPS] = 0;
    ring.step = step;
  }
}

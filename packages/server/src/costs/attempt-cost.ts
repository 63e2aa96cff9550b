/** What one attempt cost. It is made of the same parts as the sums of all attempts, without the premium for burst: that is known of whole days. */
import { type AttemptCost, PRIORITIES } from '@signalbox/protocol';
import { costOf, type DatedCard } from './pricing.ts';
import { dayOf } from './spent.ts';

const DAY_MS = 86_400_000;
const MIB = 1_048_576;
const DIGITS = 1e6;

export interface EndedAttempt {
  readonly claimedAt: number;
  readonly endedAt: number;
  readonly priority: (typeof PRIORITIES)[number];
  readonly cpuMs: number | null;
  readonly peakMemoryBytes: number | null;
}

/** Each day has the prices of its rate card. Null when none of its days has one. */
export function costOfAttempt(attempt: EndedAttempt, cards: readonly DatedCard[]): AttemptCost | null {
  const { endedAt, cpuMs, peakMemoryBytes } = attempt;
  const priority = PRIORITIES.indexOf(attempt.priority);
  let amount = 0;
  let currency: string | null = null;
  // A clock that went back makes no time.
  for (let from = Math.min(attempt.claimedAt, endedAt); ; ) {
    const day = dayOf(from);
    const to = Math.min(endedAt, (day + 1) * DAY_MS);
    const isLast = to >= endedAt;
    const cardNo = cards.findLastIndex((one) => one.fromDay <= day);
    const card = cards[cardNo]?.card;
    if (card !== undefined) {
      currency = card.currency;
      const slotMs = to - from;
      const memoryMibMs = ((peakMemoryBytes ?? 0) / MIB) * slotMs;
      // The processor's time goes to the last day, as in the sums.
      const used = { slotMs, burstMs: 0, cpuMs: isLast ? (cpuMs ?? 0) : 0, memoryMibMs };
      amount += costOf({ key: null, cardNo, priority, attempts: 1, ...used }, card);
    }
    if (isLast) return currency === null ? null : { amount: Math.round(amount * DIGITS) / DIGITS, currency };
    from = to;
  }
}

/** Money for sums of what attempts took. The sums are exact; the rate card of each day makes money of them. */
import { type CostSums, PRIORITIES, type RateCard, rateCardSchema } from '@signalbox/protocol';
import type { StoredRateCard, UsageDay, UsageRow } from '@signalbox/store';

const HOUR_MS = 3_600_000;
const MIB_PER_GIB = 1_024;
const DIGITS = 1e6;

export interface DatedCard {
  readonly fromDay: number;
  readonly card: RateCard;
}

/** In the order of their days. */
export const readCards = (stored: readonly StoredRateCard[]): DatedCard[] =>
  stored.map(({ fromDay, card }) => ({ fromDay, card: rateCardSchema.parse(card) }));

/** The days of the range that have a card. */
export function daysOf(cards: readonly DatedCard[], fromDay: number, toDay: number): UsageDay[] {
  return Array.from({ length: toDay - fromDay + 1 }, (_, at) => fromDay + at).flatMap((day): UsageDay[] => {
    const cardNo = cards.findLastIndex((one) => one.fromDay <= day);
    const card = cards[cardNo]?.card;
    return card === undefined ? [] : [{ day, cardNo, burstAboveSlots: card.burst?.aboveSlots ?? null }];
  });
}

export function costOf(row: UsageRow, { slotHour, cpuHour, gibHour, classes, burst }: RateCard): number {
  const slots = (row.slotMs + row.burstMs * ((burst?.premium ?? 1) - 1)) * slotHour;
  const memory = (row.memoryMibMs / MIB_PER_GIB) * gibHour;
  const factor = classes[PRIORITIES[row.priority] ?? 'normal'];
  return ((slots + row.cpuMs * cpuHour + memory) * factor) / HOUR_MS;
}

export interface Priced {
  readonly row: UsageRow;
  readonly cost: number;
}

export const priced = (rows: readonly UsageRow[], cards: readonly DatedCard[]): Priced[] =>
  rows.map((row) => ({ row, cost: costOf(row, (cards[row.cardNo] as DatedCard).card) }));

/** Rounded only here: what is added up is exact. */
export function sumOf(list: readonly Priced[]): CostSums {
  const sum = (of: (one: Priced) => number) => list.reduce((total, one) => total + of(one), 0);
  const rounded = (value: number) => Math.round(value * DIGITS) / DIGITS;
  const hours = (ms: number) => rounded(ms / HOUR_MS);
  return {
    attempts: sum(({ row }) => row.attempts),
    slotHours: hours(sum(({ row }) => row.slotMs)),
    burstSlotHours: hours(sum(({ row }) => row.burstMs)),
    cpuHours: hours(sum(({ row }) => row.cpuMs)),
    gibHours: hours(sum(({ row }) => row.memoryMibMs) / MIB_PER_GIB),
    cost: rounded(sum(({ cost }) => cost)),
  };
}

/** What was spent in a month, for budgets. */
import type { TenantId } from '@signalbox/engine';
import type { UsageQuery, UsageRow } from '@signalbox/store';
import { fromIso, toIso } from '../iso-instants.ts';
import { type DatedCard, daysOf, priced } from './pricing.ts';

const DAY_MS = 86_400_000;
const MONTHS = 12;
export const MILLION = 1_000_000;

export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
export const dateOf = (day: number): string => toIso(day * DAY_MS).slice(0, 10);
/** Of a date, as text. */
export const dayOfDate = (date: string): number => dayOf(fromIso(date));

/** Months since year 0, and its first day. */
export function monthOf(now: number): { readonly month: number; readonly fromDay: number } {
  const [year = 0, month = 1] = toIso(now).split('-', 2).map(Number);
  return { month: year * MONTHS + month - 1, fromDay: dayOfDate(`${toIso(now).slice(0, 7)}-01`) };
}

interface Reader {
  readUsage(query: UsageQuery): Promise<UsageRow[]>;
}

/** By dag, and of all: in this month so far. */
export async function spentOf(
  reader: Reader,
  cards: readonly DatedCard[],
  { tenantId, now }: { readonly tenantId: TenantId; readonly now: number },
): Promise<{ readonly total: number; readonly byDag: ReadonlyMap<string, number> }> {
  const days = daysOf(cards, monthOf(now).fromDay, dayOf(now));
  const rows = priced(await reader.readUsage({ tenantId, by: 'dag', dag: null, days }), cards);
  const byDag = new Map<string, number>();
  let total = 0;
  for (const { row, cost } of rows) {
    total += cost;
    if (row.key !== null) byDag.set(row.key, (byDag.get(row.key) ?? 0) + cost);
  }
  return { total, byDag };
}

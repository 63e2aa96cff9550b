/**
 * Looks each minute whether a budget is crossed, and tells the shard that remembers it: what it records is an event. Each server does so;
 * to be told twice changes nothing. Without a budget or a rate card it reads two small tables, and nothing else.
 */
import { type CrossBudget, SHARD_COUNT, type ShardNo, type TenantId } from '@signalbox/engine';
import type { Queries } from '@signalbox/store';
import type { Tell } from '../log.ts';
import { readCards } from './pricing.ts';
import { MILLION, monthOf, spentOf } from './spent.ts';

const EVERY_MS = 60_000;
const WITHIN_MS = 10_000;

interface BudgetWatchParts {
  readonly queries: Pick<Queries, 'readRateCards' | 'readBudgets' | 'readUsage'>;
  /** To the owner of the shard; null while there is none to ask. */
  readonly ask: (command: CrossBudget, deadlineMs: number) => Promise<unknown> | null;
  readonly now: () => number;
  readonly tell: Tell;
}

export class BudgetWatch {
  readonly #parts: BudgetWatchParts;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: BudgetWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#round(), EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** How many are crossed. */
  async runOnce(): Promise<number> {
    const { queries, ask, now } = this.#parts;
    const cards = readCards(await queries.readRateCards());
    const currency = cards.at(-1)?.card.currency;
    const budgets = currency === undefined ? [] : await queries.readBudgets(null);
    const at = now();
    const { month } = monthOf(at);
    let crossed = 0;
    for (const tenantId of new Set(budgets.map((budget) => budget.tenantId))) {
      const { total, byDag } = await spentOf(queries, cards, { tenantId, now: at });
      for (const { dag, amount } of budgets.filter((budget) => budget.tenantId === tenantId)) {
        const spent = Math.round((dag === null ? total : (byDag.get(dag) ?? 0)) * MILLION);
        if (spent < amount) continue;
        crossed += 1;
        const told = { shard: shardOf(tenantId), tenantId, dag, month, amount, spent, currency: currency ?? '' };
        await ask({ kind: 'CrossBudget', ...told }, WITHIN_MS);
      }
    }
    return crossed;
  }

  async #round(): Promise<void> {
    try {
      await this.runOnce();
    } catch (error) {
      this.#parts.tell('warn', 'Budgets could not be looked at; it is tried again in a minute.', {
        error: String(error),
      });
    }
  }
}

const shardOf = (tenantId: TenantId): ShardNo => (tenantId % SHARD_COUNT) as ShardNo;

/** G. Budgets: a crossing is told once in a month; again only where the budget was raised since. */
import type { BudgetCrossed } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

export function budgets(scene: Scene): Checker {
  const told = new Map<string, BudgetCrossed>();
  return {
    invariants: ['I61'],
    onChange(change) {
      if (change.kind !== 'BudgetCrossed') return;
      const key = `${change.shard}/${change.tenantId}/${change.dag}`;
      const last = told.get(key);
      told.set(key, change);
      if (last === undefined || change.month > last.month) return;
      if (change.month === last.month && change.amount > last.amount) return;
      scene.fail('I61', `budget ${key} was told as crossed in ${last.month} at ${last.amount}, and again`);
    },
  };
}

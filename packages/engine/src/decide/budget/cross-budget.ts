/** A crossing is told once in a month; again, if the budget was raised since and is crossed again. */
import { type Answer, DONE } from '../../model/answer.ts';
import { budgetCrossings } from '../../model/change/budget.ts';
import type { CrossBudget } from '../../model/command.ts';
import type { Recorder } from '../recorder.ts';

export function crossBudget(recorder: Recorder, command: CrossBudget): Answer {
  const { shard, tenantId, month, amount, spent, currency } = command;
  const dag = command.dag ?? '';
  const { state } = recorder;
  const told = state.rows.get(budgetCrossings, { shard, tenantId, dag });
  // A node whose clock is behind may still speak of the month before.
  if (told !== undefined && (told.month > month || (told.month === month && told.amount >= amount))) return DONE;
  recorder.record({ kind: 'BudgetCrossed', shard, tenantId, dag, month, amount, spent, currency, at: state.now });
  return DONE;
}

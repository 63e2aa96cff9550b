/**
 * Tasks between a setup and its teardown do not start before the setup has ended, whatever their rule (except `always`). In
 * the first pass of a run the edges ensure this, except for eager rules. When a task in the middle runs again together with
 * the setup, the tasks between the two may have succeeded long ago; then only this rule holds the task back.
 */
import type { TriggerRule } from '../task/trigger.ts';
import type { ClosingPlan } from './closing-plan.ts';
import { walkDown } from './dag-walk.ts';

/** How a setup that has not succeeded decides a task behind it: as it would, if everything between the two ran again. */
export interface SetupHold {
  readonly setup: number;
  /** Each task on a way between the two, and the task itself, wants that nothing failed. */
  readonly carriesFailure: boolean;
  /** Each of them wants that everything succeeded. */
  readonly carriesSkip: boolean;
}

interface HeldTask {
  readonly rule?: TriggerRule;
  readonly addedBy?: number;
}

const NO_FAILURE: ReadonlySet<TriggerRule> = new Set(['all_success', 'none_failed', 'none_failed_min_one_success']);

/** For each task the setups that it waits for; empty for a dag without any. */
export function setupHolds(
  tasks: readonly HeldTask[],
  closing: ClosingPlan | null,
  below: (no: number) => Iterable<number>,
): readonly (readonly SetupHold[])[] {
  const scopes = new Map<number, Set<number>>();
  for (const { teardown = [], awaits } of closing?.tasks ?? []) {
    for (const setup of teardown) scopes.set(setup, new Set([...(scopes.get(setup) ?? []), ...awaits]));
  }
  if (scopes.size === 0) return [];
  const holds: SetupHold[][] = tasks.map(() => []);
  for (const [setup, scope] of scopes) {
    const along = (isOn: (rule: TriggerRule) => boolean) =>
      walkDown([setup], (no) => [...below(no)].filter((next) => isOn(tasks[next]!.rule ?? 'all_success')), tasks);
    const [failing, skipping] = [along((rule) => NO_FAILURE.has(rule)), along((rule) => rule === 'all_success')];
    for (const no of along(() => true)) {
      if (!scope.has(no) || tasks[no]!.rule === 'always') continue;
      holds[no]!.push({ setup, carriesFailure: failing.has(no), carriesSkip: skipping.has(no) });
    }
  }
  return holds;
}

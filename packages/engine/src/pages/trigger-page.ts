/** The page `docs/reference/trigger-rules.md`, made from the rules that the engine uses. */

import { decideTrigger, RULE_WORDS, TRIGGER_RULES, type TriggerRule, VERDICT_NAMES } from '../model/task/trigger.ts';
import { pageTable } from './page-table.ts';

/** Two upstream tasks, in each way that they may have ended. */
const STATES = ['succeeded', 'failed', 'upstream_failed', 'skipped'] as const;
const SHORT = { succeeded: 'S', failed: 'F', upstream_failed: 'U', skipped: 'K' } as const;
const PAIRS = STATES.flatMap((a, i) => STATES.slice(i).map((b) => [a, b] as const));

export function triggerRulesPage(): string {
  return [
    '# Trigger rules',
    'Generated from the table in `packages/engine`. To write this page again: `npx vitest run packages/engine/src/model/task/trigger.test.ts -u`.',
    'The `rule` of a task says which results of the tasks that it needs let it run. The names are those of Airflow 3. A task that needs no other task always runs. `failed` includes `upstream_failed` unless the table says otherwise.',
    pageTable(
      ['rule', 'runs when', 'otherwise'],
      TRIGGER_RULES.map((rule) => [`\`${rule}\``, RULE_WORDS[rule].runs, RULE_WORDS[rule].otherwise]),
    ),
    'A rule is decided as soon as the open tasks can no longer change the result. The decision is final, and the order in which tasks end does not matter. Example: `all_success` with one skipped task waits for the others, because they decide between `skipped` and `upstream_failed`.',
    '## Branches and short circuits come before the rule',
    'A task that directly needs a branch or a short circuit waits for it, whatever its rule, even `always`. It is `skipped` if the short circuit stops, or if the branch chose neither this task nor a task before it. Only then does the rule count. If the branch or short circuit itself failed or was skipped, only the rule counts. The same is true for everything downstream of `shortCircuit: all`.',
    '## Where this differs from Airflow',
    '`all_done_min_one_success` counts a skipped task as done: it runs after one success and one skip. Airflow 3.1 describes the rule in the same way but skips the task as soon as one upstream task was skipped. `always` after a branch waits for the branch; in Airflow the two race.',
    '## Results for two upstream tasks',
    'S succeeded, F failed, U upstream_failed, K skipped.',
    pageTable(
      ['rule', ...PAIRS.map(([a, b]) => `${SHORT[a]} ${SHORT[b]}`)],
      TRIGGER_RULES.map((rule) => [`\`${rule}\``, ...PAIRS.map((pair) => outcomeOf(rule, pair))]),
    ),
    '`all_done_setup_success` is shown for tasks that are not setups.',
  ].join('\n\n');
}

function outcomeOf(rule: TriggerRule, pair: readonly (typeof STATES)[number][]): string {
  const count = (state: (typeof STATES)[number]) => pair.filter((one) => one === state).length;
  const verdict = decideTrigger(rule, {
    total: pair.length,
    open: 0,
    succeeded: count('succeeded'),
    failed: count('failed'),
    upstreamFailed: count('upstream_failed'),
    skipped: count('skipped'),
    setups: { total: 0, open: 0, succeeded: 0, skipped: 0 },
  });
  return VERDICT_NAMES[verdict];
}

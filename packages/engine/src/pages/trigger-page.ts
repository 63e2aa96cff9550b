/** The page `docs/reference/trigger-rules.md`, made from the rules that the engine goes by. */

import { decideTrigger, RULE_WORDS, TRIGGER_RULES, type TriggerRule, VERDICT_NAMES } from '../model/task/trigger.ts';
import { pageTable } from './page-table.ts';

/** Two upstream tasks, in each way that they may have ended. */
const STATES = ['succeeded', 'failed', 'upstream_failed', 'skipped'] as const;
const SHORT = { succeeded: 'S', failed: 'F', upstream_failed: 'U', skipped: 'K' } as const;
const PAIRS = STATES.flatMap((a, i) => STATES.slice(i).map((b) => [a, b] as const));

export function triggerRulesPage(): string {
  return [
    '# Trigger rules',
    'Made from the table in `packages/engine`. A test compares; `npx vitest run packages/engine/src/model/task/trigger.test.ts -u` writes it anew.',
    'A task with `rule` runs, or never will, by what became of the tasks that it needs. The names are those of Airflow 3. A task that needs none runs, whatever its rule. `failed` stands for tasks that failed and for those that did not run because of a failure (`upstream_failed`), unless told otherwise.',
    pageTable(
      ['rule', 'runs when', 'otherwise'],
      TRIGGER_RULES.map((rule) => [`\`${rule}\``, RULE_WORDS[rule].runs, RULE_WORDS[rule].otherwise]),
    ),
    'A rule is decided as soon as every way in which the open tasks may still end leads to the same outcome, and not before. What is decided stays so, and the order in which tasks end does not matter. So `all_success` with one task skipped waits for the others: whether it is skipped or `upstream_failed` depends on them.',
    '## Branches and short circuits come before the rule',
    'A task that directly needs a branch or a short circuit waits for it, whatever its rule, `always` included. It is `skipped` when the short circuit lets nothing pass, or when the branch chose neither this task nor a task that comes before it. Only then the rule counts. A branch or short circuit that itself failed or was skipped decides nothing: the rule does. The same holds for everything behind a `shortCircuit: all`.',
    '## Where this differs from Airflow',
    '`all_done_min_one_success` counts a skipped task as done: it runs after one success and one skip. Airflow 3.1 describes the rule in the same way but skips the task as soon as one upstream task was skipped. `always` behind a branch waits for the branch; in Airflow the two race.',
    '## What comes out of two upstream tasks',
    'S succeeded, F failed, U upstream_failed, K skipped.',
    pageTable(
      ['rule', ...PAIRS.map(([a, b]) => `${SHORT[a]} ${SHORT[b]}`)],
      TRIGGER_RULES.map((rule) => [`\`${rule}\``, ...PAIRS.map((pair) => outcomeOf(rule, pair))]),
    ),
    '`all_done_setup_success` is shown for tasks that are no setups.',
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

import { describe, expect, test } from 'vitest';
import { triggerRulesPage } from '../../pages/trigger-page.ts';
import { scenario } from '../../testing/scenario.ts';
import { dag, task } from '../../testing/specs.ts';
import { decideTrigger, FAIL, RUN, SKIP, TRIGGER_RULES, type TriggerRule, type Upstream, WAIT } from './trigger.ts';

const STATES = ['succeeded', 'failed', 'upstream_failed', 'skipped'] as const;
type UpState = (typeof STATES)[number];
interface Parent {
  readonly state: UpState | 'open';
  readonly isSetup: boolean;
}

/** Rules that run before all have ended. */
const AT_ONCE: readonly TriggerRule[] = ['one_success', 'one_failed', 'one_done', 'always'];

/** The table of the design, over upstream tasks that have all ended. */
function outcome(rule: TriggerRule, parents: readonly Parent[]): number {
  const [s, f, u, k] = STATES.map((state) => parents.filter((parent) => parent.state === state).length) as [
    number,
    number,
    number,
    number,
  ];
  const n = parents.length;
  const otherwise = f + u > 0 ? FAIL : SKIP;
  const setups = parents.filter(({ isSetup }) => isSetup);
  switch (rule) {
    case 'all_success':
      return s === n ? RUN : otherwise;
    case 'all_failed':
      return f + u === n ? RUN : SKIP;
    case 'all_done':
    case 'always':
      return RUN;
    case 'all_done_min_one_success':
    case 'one_success':
      return s >= 1 ? RUN : otherwise;
    case 'all_done_setup_success':
      if (setups.length === 0 || setups.some(({ state }) => state === 'succeeded')) return RUN;
      return setups.every(({ state }) => state === 'skipped') ? SKIP : FAIL;
    case 'one_failed':
      return f + u >= 1 ? RUN : SKIP;
    case 'one_done':
      return s + f >= 1 ? RUN : SKIP;
    case 'none_failed':
      return f + u === 0 ? RUN : FAIL;
    case 'none_failed_min_one_success':
      return f + u > 0 ? FAIL : s >= 1 ? RUN : SKIP;
    case 'none_skipped':
      return k === 0 ? RUN : SKIP;
    case 'all_skipped':
      return k === n ? RUN : SKIP;
  }
}

/** What every way to end of the open ones agrees on, or nothing. */
function earliest(rule: TriggerRule, parents: readonly Parent[]): number {
  const open = parents.findIndex(({ state }) => state === 'open');
  if (open < 0) return outcome(rule, parents);
  const ways = STATES.map((state) => earliest(rule, parents.with(open, { ...parents[open]!, state })));
  const first = ways[0]!;
  if (ways.some((way) => way !== first)) return WAIT;
  return first === RUN && !AT_ONCE.includes(rule) ? WAIT : first;
}

function upstreamOf(parents: readonly Parent[]): Upstream {
  const count = (list: readonly Parent[], state: Parent['state']) => list.filter((one) => one.state === state).length;
  const setups = parents.filter(({ isSetup }) => isSetup);
  return {
    total: parents.length,
    open: count(parents, 'open'),
    succeeded: count(parents, 'succeeded'),
    failed: count(parents, 'failed'),
    upstreamFailed: count(parents, 'upstream_failed'),
    skipped: count(parents, 'skipped'),
    setups: {
      total: setups.length,
      open: count(setups, 'open'),
      succeeded: count(setups, 'succeeded'),
      skipped: count(setups, 'skipped'),
    },
  };
}

function* combinations(length: number, of: readonly Parent[]): Generator<Parent[]> {
  if (length === 0) return yield [];
  for (const rest of combinations(length - 1, of)) for (const one of of) yield [...rest, one];
}

function* orders<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) return yield [];
  for (let i = 0; i < items.length; i++) for (const rest of orders(items.toSpliced(i, 1))) yield [items[i]!, ...rest];
}

describe.each(TRIGGER_RULES)('%s', (rule) => {
  const kinds = rule === 'all_done_setup_success' ? [false, true] : [false];
  const ended = kinds.flatMap((isSetup) => STATES.map((state): Parent => ({ state, isSetup })));
  const any = [...ended, ...kinds.map((isSetup): Parent => ({ state: 'open', isSetup }))];

  test('is decided exactly when all ways to go on agree, for up to four upstream tasks (I30)', () => {
    for (const length of [1, 2, 3, 4]) {
      for (const parents of combinations(length, any)) {
        const [found, wanted] = [decideTrigger(rule, upstreamOf(parents)), earliest(rule, parents)];
        if (found !== wanted) expect([parents, found]).toEqual([parents, wanted]);
      }
    }
  });

  test('stays as decided, and comes out the same in every order of arrival (I31)', () => {
    const most = kinds.length === 1 ? 4 : 3;
    for (let length = 1; length <= most; length++) {
      for (const parents of combinations(length, ended)) {
        const wanted = outcome(rule, parents);
        for (const order of orders(parents.map((_, i) => i))) {
          const states: Parent[] = parents.map(({ isSetup }) => ({ state: 'open', isSetup }));
          let decided: number = decideTrigger(rule, upstreamOf(states));
          for (const i of order) {
            states[i] = parents[i]!;
            const next = decideTrigger(rule, upstreamOf(states));
            if (decided !== WAIT && next !== decided) expect([parents, order, next]).toEqual([parents, order, decided]);
            decided = next;
          }
          if (decided !== wanted) expect([parents, order, decided]).toEqual([parents, order, wanted]);
        }
      }
    }
  });

  test('a task with nothing upstream runs', () => {
    expect(decideTrigger(rule, upstreamOf([]))).toBe(RUN);
    expect(scenario({ dag: dag([task('a', [], { rule })]) }).task('a').state).toBe('ready');
  });
});

test('the page of trigger rules says what the table says', async () => {
  await expect(`${triggerRulesPage()}\n`).toMatchFileSnapshot('../../../../../docs/reference/trigger-rules.md');
});

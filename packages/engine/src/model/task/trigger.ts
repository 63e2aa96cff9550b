/**
 * When a task may run, given the states of the tasks upstream: the thirteen trigger rules, with the names of Airflow 3.
 *
 * A rule is a pure function of counts. It decides as soon as all possible ends of the open tasks lead to the same result,
 * and not before. So a decision stays valid (I30), and the order in which tasks end does not matter (I31).
 */

export const WAIT = 0;
export const RUN = 1;
export const SKIP = 2;
export const FAIL = 3;
export type Verdict = typeof WAIT | typeof RUN | typeof SKIP | typeof FAIL;
export const VERDICT_NAMES = ['waits', 'runs', 'skipped', 'upstream_failed'] as const;

/** How many of the tasks upstream are where. */
export interface Upstream {
  readonly total: number;
  /** Not ended yet. */
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly upstreamFailed: number;
  readonly skipped: number;
  /** Those of them that are setups. */
  readonly setups: {
    readonly total: number;
    readonly open: number;
    readonly succeeded: number;
    readonly skipped: number;
  };
}

interface Rule {
  /** For the page in `docs/reference`. */
  readonly runs: string;
  readonly otherwise: string;
  readonly decide: (up: Upstream) => Verdict;
}

const bad = (up: Upstream): number => up.failed + up.upstreamFailed;
const failedOrSkipped = (up: Upstream): Verdict => (bad(up) > 0 ? FAIL : SKIP);

const RULES = {
  all_success: {
    runs: 'all have succeeded',
    otherwise:
      '`upstream_failed` as soon as one failed; `skipped` when all have ended, none failed and one was skipped',
    decide: (up) => (bad(up) > 0 ? FAIL : up.open > 0 ? WAIT : up.skipped > 0 ? SKIP : RUN),
  },
  all_failed: {
    runs: 'all have failed',
    otherwise: '`skipped` as soon as one succeeded or was skipped',
    decide: (up) => (up.succeeded + up.skipped > 0 ? SKIP : up.open > 0 ? WAIT : RUN),
  },
  all_done: {
    runs: 'all have ended, however they did',
    otherwise: 'never',
    decide: (up) => (up.open > 0 ? WAIT : RUN),
  },
  all_done_min_one_success: {
    runs: 'all have ended, and at least one succeeded',
    otherwise: '`upstream_failed` when one failed, else `skipped`; when all have ended',
    decide: (up) => (up.open > 0 ? WAIT : up.succeeded > 0 ? RUN : failedOrSkipped(up)),
  },
  all_done_setup_success: {
    runs: 'all have ended, and of the setups among them, if there are any, at least one succeeded',
    otherwise:
      'as soon as no setup can succeed any more: `skipped` when all setups were skipped, else `upstream_failed`',
    decide: ({ open, setups }) => {
      if (setups.total > 0 && setups.open === 0 && setups.succeeded === 0) {
        return setups.skipped === setups.total ? SKIP : FAIL;
      }
      return open > 0 ? WAIT : RUN;
    },
  },
  one_success: {
    runs: 'one has succeeded; does not wait for the others',
    otherwise: '`upstream_failed` when one failed, else `skipped`; when all have ended',
    decide: (up) => (up.succeeded > 0 ? RUN : up.open > 0 ? WAIT : failedOrSkipped(up)),
  },
  one_failed: {
    runs: 'one has failed; does not wait for the others',
    otherwise: '`skipped` when all have ended',
    decide: (up) => (bad(up) > 0 ? RUN : up.open > 0 ? WAIT : SKIP),
  },
  one_done: {
    runs: 'one has succeeded or failed by itself; does not wait for the others',
    otherwise: '`skipped` when all have ended',
    decide: (up) => (up.succeeded + up.failed > 0 ? RUN : up.open > 0 ? WAIT : SKIP),
  },
  none_failed: {
    runs: 'all have ended, and none failed',
    otherwise: '`upstream_failed` as soon as one failed',
    decide: (up) => (bad(up) > 0 ? FAIL : up.open > 0 ? WAIT : RUN),
  },
  none_failed_min_one_success: {
    runs: 'all have ended, none failed, and at least one succeeded',
    otherwise: '`upstream_failed` as soon as one failed; `skipped` when all were skipped',
    decide: (up) => (bad(up) > 0 ? FAIL : up.open > 0 ? WAIT : up.succeeded > 0 ? RUN : SKIP),
  },
  none_skipped: {
    runs: 'all have ended, and none was skipped',
    otherwise: '`skipped` as soon as one was skipped',
    decide: (up) => (up.skipped > 0 ? SKIP : up.open > 0 ? WAIT : RUN),
  },
  all_skipped: {
    runs: 'all were skipped',
    otherwise: '`skipped` as soon as one succeeded or failed',
    decide: (up) => (up.succeeded + bad(up) > 0 ? SKIP : up.open > 0 ? WAIT : RUN),
  },
  always: {
    runs: 'at once, whatever is upstream',
    otherwise: 'never',
    decide: () => RUN,
  },
} as const satisfies Record<string, Rule>;

export type TriggerRule = keyof typeof RULES;
export const TRIGGER_RULES = Object.keys(RULES) as readonly TriggerRule[];
export const RULE_WORDS: Readonly<Record<TriggerRule, Pick<Rule, 'runs' | 'otherwise'>>> = RULES;

/** A task with nothing upstream runs, whatever its rule. */
export function decideTrigger(rule: TriggerRule, upstream: Upstream): Verdict {
  return upstream.total === 0 ? RUN : RULES[rule].decide(upstream);
}

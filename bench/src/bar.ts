/**
 * What a figure is held against. `must` fails the bench when it is missed; `goal` is where the figure should get to, and is
 * reported only.
 */
export interface Bar {
  readonly better: 'more' | 'less';
  readonly must?: number;
  readonly goal?: number;
  /** Another number than the figure's own value, with its name: `p99`. */
  readonly of?: { readonly name: string; readonly value: number };
}

type Limits = Pick<Bar, 'must' | 'goal' | 'of'>;

/** @example atLeast({ must: 8_000, goal: 20_000 }) */
export const atLeast = (limits: Limits): Bar => ({ better: 'more', ...limits });

/** @example atMost({ goal: 25, of: { name: 'p99', value: p99 } }) */
export const atMost = (limits: Limits): Bar => ({ better: 'less', ...limits });

export interface Verdict {
  /** `≥ 8,000 met, goal 20,000 missed` */
  readonly text: string;
  readonly must: 'met' | 'missed' | null;
  readonly goal: 'met' | 'missed' | null;
}

export function judge(value: number, { better, must, goal, of }: Bar): Verdict {
  const measured = of?.value ?? value;
  // A value that is no number was not measured: that is no success.
  const verdict = (limit: number | undefined): Verdict['must'] => {
    if (limit === undefined) return null;
    return (better === 'more' ? measured >= limit : measured <= limit) ? 'met' : 'missed';
  };
  const sign = better === 'more' ? '≥' : '≤';
  const say = (word: string, limit: number | undefined) =>
    limit === undefined ? [] : [`${word}${sign} ${limit.toLocaleString('en')} ${verdict(limit)}`];
  const said = [...say('', must), ...say('goal ', goal)].join(', ');
  return { text: of === undefined ? said : `${of.name} ${said}`, must: verdict(must), goal: verdict(goal) };
}

/** What replaces a task in a test. */

import type { Duration } from '../dag/amounts.ts';
import type { HandlerContext } from '../handler.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- a stub may declare the inputs and params that it looks at
export type Stub = (context: HandlerContext<any, any>) => unknown;

const LASTING: unique symbol = Symbol('lasting');

interface Lasting {
  readonly [LASTING]: number;
  readonly end: () => unknown;
}

/**
 * A stub that takes this long by the test's clock and then returns the value, or what the function returns or throws. No
 * real time passes.
 *
 * @example testRun(coffee, { stubs: { brew: takes('2m', 'coffee') } }); // runs into the task's timeout of 30 s
 */
export function takes(span: Duration, value?: unknown): Stub {
  const ms = spanMs(span);
  return (context) => ({
    [LASTING]: ms,
    end: () => (typeof value === 'function' ? (value as Stub)(context) : value),
  });
}

export function isLasting(value: unknown): value is Lasting {
  return typeof value === 'object' && value !== null && LASTING in value;
}

export const lastingMs = (value: Lasting): number => value[LASTING];

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function spanMs(span: Duration): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(span);
  if (match === null) throw new TypeError(`${JSON.stringify(span)} is no span; give one such as 30s or 5m.`);
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}

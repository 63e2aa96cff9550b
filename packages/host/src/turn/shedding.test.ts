import type { Command, DagId, Priority, State, SubmitRuns, TenantId } from '@signalbox/engine';
import { describe, expect, test } from 'vitest';
import { type Envelope, Inbox } from './inbox.ts';
import { classOf, isTooDeep } from './shedding.ts';

const CLASSES = ['low', 'normal', 'high', 'critical'] as const satisfies readonly Priority[];
const TENANT = 1 as TenantId;

function submit(priority: Priority | null, runs = 1): SubmitRuns {
  const items = Array.from({ length: runs }, () => ({ params: null, priority }));
  return { kind: 'SubmitRuns', tenantId: TENANT, dagId: 7 as DagId, items } as unknown as SubmitRuns;
}

const told = (command: Command): Envelope => ({ command, reply: null });
const others = (['CancelRun', 'ReportAttempt', 'WorkerHeard', 'Tick', 'SetPaused'] as const).map(
  (kind) => ({ kind }) as Command,
);

test('the order of shedding: low, normal, high; never critical, nor what is under way (I74)', () => {
  const inbox = () => new Inbox({ submissions: 100 }, () => undefined, { shed: (command) => classOf(command, null) });
  /** How many runs wait when the class is refused first. */
  const refusedAt = (priority: Priority) => {
    const full = inbox();
    let waiting = 0;
    while (waiting < 250 && full.offer(told(submit(priority)))) waiting += 1;
    for (const command of others) expect(full.offer(told(command))).toBe(true);
    return waiting;
  };
  expect(CLASSES.map(refusedAt)).toEqual([50, 80, 100, 250]);
});

test('even critical runs have a bound: memory has one', () => {
  const inbox = new Inbox({ submissions: 100 }, () => undefined, { shed: (command) => classOf(command, null) });
  let taken = 0;
  while (taken < 1_000 && inbox.offer(told(submit('critical', 10)))) taken += 10;
  expect(taken).toBe(300);
});

describe('the class of a submission', () => {
  const state = { dags: new Map([[7, { current: { spec: { priority: 'low' } } }]]) } as unknown as State;
  test('is that of its least urgent run, and of its dag where it says nothing', () => {
    const mixed = { ...submit('critical'), items: [...submit('critical').items, ...submit('low').items] };
    expect(classOf(mixed, null)).toBe('low');
    expect(classOf(submit(null), state)).toBe('low');
    expect(classOf(submit('high'), state)).toBe('high');
  });
});

test.each([
  ['low', 400, 100, false],
  ['low', 500, 100, true],
  ['normal', 500, 100, false],
  ['normal', 800, 100, true],
  ['high', 900, 100, false],
  ['high', 1_000, 100, true],
  ['critical', 5_000, 5_000, false],
  // One tenant has at most half of it.
  ['high', 600, 500, true],
  ['high', 600, 499, false],
] as const)(
  'with %s, %i live runs and %i of the tenant of 1,000: refused is %s',
  (priority, runs, ofTenant, expected) => {
    expect(isTooDeep(submit(priority), priority, { runs, tenants: 2, of: () => ofTenant }, 1_000)).toBe(expected);
  },
);

test('a tenant that is the only one has all of it', () => {
  const live = { runs: 900, tenants: 1, of: () => 900 };
  expect([
    isTooDeep(submit('high', 100), 'high', live, 1_000),
    isTooDeep(submit('high', 101), 'high', live, 1_000),
  ]).toEqual([false, true]);
});

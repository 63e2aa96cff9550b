import { describe, expect, test } from 'vitest';
import type { TaskNo } from '../../model/ids.ts';
import { blockersOf } from '../../tables/queue/blockers.ts';
import { waitOf } from '../../tables/queue/wait.ts';
import { type Scenario, scenario, TENANT } from '../../testing/scenario.ts';
import { dag, job, task } from '../../testing/specs.ts';

const MINUTE = 60_000;
const twoAMinute = { limit: 2, perMs: MINUTE };

/** Claims and ends as many as start now. */
function startAll(box: Scenario): number {
  let count = 0;
  for (let one = box.tryClaim(); one !== null; one = box.tryClaim()) {
    box.report(one, 'succeeded');
    count += 1;
  }
  return count;
}

describe.each([
  ['a task', job({ rate: twoAMinute })],
  ['a dag', dag([task('job')], { rate: twoAMinute })],
])('the rate of %s', (_, spec) => {
  test('lets so many attempts start per time, however short they are (I44)', () => {
    const box = scenario({ dag: spec, runs: 7 });
    expect(startAll(box)).toBe(2);
    box.advance('59s', [box.worker()]);
    expect(startAll(box)).toBe(0);
    // A start counts for a twentieth of the time more, at most.
    box.advance('4s', [box.worker()]);
    expect(startAll(box)).toBe(2);
    box.advance('63s', [box.worker()]);
    expect(startAll(box)).toBe(2);
  });

  test('counts over a handover', () => {
    const box = scenario({ dag: spec, runs: 4 });
    expect(startAll(box)).toBe(2);
    box.killOwner().heartbeat();
    expect(startAll(box)).toBe(0);
    box.advance('63s', [box.worker()]);
    expect(startAll(box)).toBe(2);
    box.advance('63s', [box.worker()]);
    expect(box.state.rates.next()).toBeNull();
  });

  test('holds back nobody else, and says until when (I47)', () => {
    const box = scenario({ dag: spec, runs: 3 });
    const other = box.deploy(job(), 'other');
    startAll(box);
    box.submit({ dagId: other });
    expect(box.claim('job').claim.runId).toBe(box.lastRun());
    const [blocker] = blockersOf(box.state, TENANT);
    expect(blocker).toMatchObject({ code: 'rate', count: 1 });
    expect(blocker!.until).toBeGreaterThan(box.state.now + 55_000);
    expect(blocker!.until).toBeLessThanOrEqual(box.state.now + 63_000);
    const asked = { tenantId: TENANT, queue: 'default' as never, runId: box.runIds[2]!, taskNo: 0 as TaskNo };
    const seen = waitOf(box.state, { ...asked, priority: 'normal', isOfBackfill: false });
    expect(seen).toMatchObject({ blockers: [{ code: 'rate' }], ahead: 0 });
  });
});

test('a higher limit counts at once, a lower one for what starts next, and without one nothing is held', () => {
  const box = scenario({ dag: job({ rate: twoAMinute }), runs: 9 });
  expect(startAll(box)).toBe(2);
  box.deploy(job({ rate: { limit: 5, perMs: MINUTE } }));
  expect(startAll(box)).toBe(3);
  box.deploy(job({ rate: { limit: 1, perMs: MINUTE } }));
  box.advance('62s', [box.worker()]);
  expect(startAll(box)).toBeLessThanOrEqual(1);
  box.deploy(job());
  expect(startAll(box)).toBeGreaterThanOrEqual(3);
});

test('a dag that gets a rate holds runs that wait already', () => {
  const box = scenario({ dag: job(), runs: 4 });
  box.deploy(dag([task('job')], { rate: { limit: 1, perMs: MINUTE } }));
  expect(startAll(box)).toBe(1);
  expect(box.tryClaim()).toBeNull();
});

test('tasks under another rate, or none, of the same dag go on', () => {
  const rate = { limit: 1, perMs: MINUTE };
  const box = scenario({ dag: dag([task('a', [], { rate }), task('b', [], { rate }), task('c')]), runs: 2 });
  const names: string[] = [];
  for (let one = box.tryClaim(); one !== null; one = box.tryClaim()) names.push(one.task);
  expect(names.toSorted()).toEqual(['a', 'b', 'c', 'c']);
});

test.each(['-30s', '-7h'] as const)(
  'the clock of the server is set by %s: starts count as long as before (I72)',
  (back) => {
    const box = scenario({ dag: job({ rate: twoAMinute }), runs: 6 });
    expect(startAll(box)).toBe(2);
    box.leap(back);
    box.advance('59s', [box.worker()]);
    expect(startAll(box)).toBe(0);
    box.advance('5s', [box.worker()]);
    expect(startAll(box)).toBe(2);
  },
);

test('the clock of a new owner is hours behind: starts count once more, and not for hours (I72)', () => {
  const box = scenario({ dag: job({ rate: twoAMinute }), runs: 6 });
  expect(startAll(box)).toBe(2);
  box.leap('-7h').killOwner().heartbeat();
  expect(startAll(box)).toBe(0);
  box.advance('64s', [box.worker()]);
  expect(startAll(box)).toBe(2);
});

test('a clock that is set back comes to the same span again: its newest start counts in full (I44)', () => {
  const box = scenario({ dag: job({ rate: twoAMinute }), runs: 6 });
  const first = box.claim('job');
  box.report(first, 'succeeded');
  box.advance('50s', [box.worker()]).leap('-50s');
  box.report(box.claim('job'), 'succeeded');
  box.advance('14s', [box.worker()]);
  expect(box.tryClaim()).toBeNull();
});

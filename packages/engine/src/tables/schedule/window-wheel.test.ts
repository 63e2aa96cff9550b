import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Watch } from './schedule.ts';
import { WindowWheel } from './window-wheel.ts';

const times = fc.array(fc.nat({ max: 5_000 }), { maxLength: 200, size: 'max' });

function watches(list: readonly number[]): Watch[] {
  return list.map((at, no) => {
    const schedule = { dagId: no % 3, scheduleNo: no, watch: null as Watch | null };
    schedule.watch = { at, schedule: schedule as never };
    return schedule.watch;
  });
}

const inOrder = (list: readonly Watch[]) =>
  [...list].sort(
    (a, b) => a.at - b.at || a.schedule.dagId - b.schedule.dagId || a.schedule.scheduleNo - b.schedule.scheduleNo,
  );

function takeUntil(wheel: WindowWheel, until: number): Watch[] {
  const found: Watch[] = [];
  for (let next = wheel.peek(until); next !== undefined; next = wheel.peek(until)) {
    found.push(next);
    wheel.pop();
  }
  return found;
}

test('windows come out by time, then by schedule, and none before its time; those added late come in their place', () => {
  fc.assert(
    fc.property(times, times, fc.nat({ max: 5_000 }), (first, second, until) => {
      const wheel = new WindowWheel();
      const [early, late] = [watches(first), watches(second)];
      for (const watch of early) wheel.push(watch);
      const taken = takeUntil(wheel, until);
      expect(taken).toEqual(inOrder(early.filter(({ at }) => at <= until)));
      for (const watch of late) wheel.push(watch);
      const left = [...early.filter(({ at }) => at > until), ...late];
      expect(wheel.size).toBe(left.length);
      expect(wheel.firstAt()).toBe(inOrder(left)[0]?.at ?? null);
      expect(takeUntil(wheel, 5_000)).toEqual(inOrder(left));
    }),
  );
});

test('those that are due are told in the order in which they will come, up to the limit, and stay', () => {
  fc.assert(
    fc.property(times, fc.nat({ max: 5_000 }), fc.nat({ max: 30 }), (list, until, limit) => {
      const wheel = new WindowWheel();
      const all = watches(list);
      for (const watch of all) wheel.push(watch);
      const due = inOrder(all.filter(({ at }) => at <= until));
      expect(wheel.due(until, limit)).toEqual(due.slice(0, limit));
      expect(wheel.size).toBe(list.length);
    }),
  );
});

test('entries that their schedule has left are swept, and no others (I73)', () => {
  const wheel = new WindowWheel();
  const all = watches(Array.from({ length: 20_000 }, (_, no) => no));
  for (const watch of all) wheel.push(watch);
  wheel.peek(9_000);
  for (const [no, watch] of all.entries()) if (no % 100 !== 0) (watch.schedule as { watch: null }).watch = null;
  wheel.sweepIfDue();
  expect(wheel.size).toBe(200);
  expect(takeUntil(wheel, 20_000).map(({ at }) => at)).toEqual(Array.from({ length: 200 }, (_, no) => no * 100));
});

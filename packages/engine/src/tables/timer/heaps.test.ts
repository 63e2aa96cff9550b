import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberHeap } from './number-heap.ts';
import { type Timer, TimerHeap } from './timer-heap.ts';

const numbers = fc.array(fc.nat({ max: 50 }), { maxLength: 200, size: 'max' });

function timer(at: number, subject: number): Timer {
  return { at, kind: 'retry', subject, taskNo: 0, stamp: 0 };
}

function emptied(heap: TimerHeap): [number, number][] {
  const found: [number, number][] = [];
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) found.push([next.at, next.subject]);
  return found;
}

function inOrder(times: readonly number[]): [number, number][] {
  return times.map((at, i): [number, number] => [at, i]).toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
}

test('timers come out by time, equal ones by subject', () => {
  fc.assert(
    fc.property(numbers, (times) => {
      const heap = new TimerHeap();
      times.forEach((at, i) => heap.push(timer(at, i)));
      expect(emptied(heap)).toEqual(inOrder(times));
    }),
  );
});

test('those that are due are told in the order in which they will come, up to the limit, and stay', () => {
  fc.assert(
    fc.property(numbers, fc.nat({ max: 60 }), fc.nat({ max: 30 }), (times, until, limit) => {
      const heap = new TimerHeap();
      times.forEach((at, i) => heap.push(timer(at, i)));
      const due = heap.due(until, limit).map(({ at, subject }) => [at, subject]);
      expect(due).toEqual(
        inOrder(times)
          .filter(([at]) => at <= until)
          .slice(0, limit),
      );
      expect(heap.size).toBe(times.length);
    }),
  );
});

test('a sweep keeps what lives, in order', () => {
  fc.assert(
    fc.property(numbers, (times) => {
      const heap = new TimerHeap();
      times.forEach((at, i) => heap.push(timer(at, i)));
      heap.sweep(({ at }) => at % 3 === 0);
      expect(emptied(heap)).toEqual(inOrder(times).filter(([at]) => at % 3 === 0));
    }),
  );
});

test('numbers come out smallest first, also after some were dropped', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const heap = new NumberHeap();
      for (const value of values) heap.push(value);
      heap.keep((value) => value % 2 === 0);
      heap.push(25);
      const found = [];
      for (let next = heap.pop(); next !== undefined; next = heap.pop()) found.push(next);
      expect(found).toEqual([...values.filter((value) => value % 2 === 0), 25].toSorted((a, b) => a - b));
    }),
  );
});

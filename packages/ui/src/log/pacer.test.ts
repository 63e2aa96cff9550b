import { expect, test } from 'vitest';
import { Pacer } from './pacer.ts';

/** A clock that is turned by hand, with one timer. */
function paced(lefts: boolean[] = []) {
  const sentAt: number[] = [];
  let now = 0;
  let timer: { readonly at: number; readonly run: () => void } | null = null;
  const pacer = new Pacer({
    send: () => {
      sentAt.push(now);
      return lefts.shift() ?? true;
    },
    leastMs: 100,
    now: () => now,
    later: (run, ms) => {
      timer = { at: now + ms, run };
    },
  });
  const advance = (ms: number) => {
    const until = now + ms;
    while (timer !== null && timer.at <= until) {
      const { at, run } = timer;
      [now, timer] = [at, null];
      run();
    }
    now = until;
  };
  return { pacer, advance, sentAt };
}

test('what comes meanwhile is sent together, and nothing is sent while there is nothing', () => {
  const { pacer, advance, sentAt } = paced();
  pacer.ask();
  pacer.ask();
  advance(1_000);
  expect(sentAt).toEqual([100]);
  pacer.shown();
  advance(1_000);
  expect(sentAt).toEqual([100]);
});

test('nothing more is sent until the page has shown the last message', () => {
  const { pacer, advance, sentAt } = paced();
  pacer.ask();
  advance(100);
  pacer.ask();
  advance(5_000);
  expect(sentAt).toEqual([100]);
  pacer.shown();
  advance(5_000);
  expect(sentAt).toHaveLength(2);
});

test.each([
  ['quick', 10, 100],
  ['slow', 400, 800],
] as const)('a page that is %s gets the next message in time, and at least as much rest as work', (_, took, next) => {
  const { pacer, advance, sentAt } = paced([false]);
  pacer.ask();
  advance(100);
  advance(took);
  pacer.shown();
  advance(5_000);
  expect(sentAt).toEqual([100, 100 + next]);
});

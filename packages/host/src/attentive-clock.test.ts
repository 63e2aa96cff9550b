import type { Instant, MonoMs } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { AttentiveClock } from './attentive-clock.ts';

function setUp() {
  const timers: { at: number; run: () => void }[] = [];
  let now = 0;
  const clock = new AttentiveClock({
    wall: () => 0 as Instant,
    mono: () => now as MonoMs,
    after: (delayMs, run) => {
      timers.push({ at: now + delayMs, run });
      return () => undefined;
    },
  });
  clock.start();
  /** Time passes, and timers ring as long as the process runs. */
  const pass = (ms: number, isRunning = true) => {
    const until = now + ms;
    for (let next = timers[0]; isRunning && next !== undefined && next.at <= until; next = timers[0]) {
      timers.shift();
      now = next.at;
      next.run();
    }
    now = until;
  };
  return { clock, pass };
}

test('time counts in full while the process runs, though nobody asks for it', () => {
  const { clock, pass } = setUp();
  pass(60_000);
  expect(clock.mono()).toBe(60_000);
});

test('of the time in which the process stood still next to nothing counts (I25)', () => {
  const { clock, pass } = setUp();
  pass(10_000);
  pass(3_600_000, false);
  expect(clock.mono()).toBe(11_000);
  pass(5_000);
  expect(clock.mono()).toBe(16_000);
});

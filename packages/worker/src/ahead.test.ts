import { expect, test } from 'vitest';
import { Ahead } from './ahead.ts';

test('a worker asks for as much ahead as it gets done in a moment, and for nothing where attempts are long', () => {
  const ahead = new Ahead();
  expect(ahead.look(0, 0)).toBe(null);
  // 8 of a second: nothing to gain.
  expect(ahead.look(1_000, 8)).toBe(null);
  let ended = 8;
  let now = 1_000;
  for (let i = 0; i < 10; i++) ahead.look((now += 50), (ended += 480));
  expect(ahead.told).toBeGreaterThan(800);
  expect(ahead.told).toBeLessThanOrEqual(1_000);
  // A little more or less is not worth a message.
  expect(ahead.look((now += 50), (ended += 460))).toBe(null);
  expect(ahead.stop()).toBe(0);
  expect(ahead.stop()).toBe(null);
  expect(ahead.look(now + 50, ended)).toBe(null);
});

test('no rate is so high that a worker asks for more than it may', () => {
  const ahead = new Ahead();
  ahead.look(0, 0);
  ahead.look(10, 10_000_000);
  expect(ahead.told).toBe(1_000);
});

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
  expect(ahead.told).toBeGreaterThan(1_600);
  expect(ahead.told).toBeLessThanOrEqual(2_000);
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
  expect(ahead.told).toBe(2_000);
});

test('claims that may wait for a short time only are asked for by half of that time', () => {
  const ahead = new Ahead();
  ahead.look(0, 0, 1_000);
  let ended = 0;
  for (let now = 50; now <= 1_000; now += 50) ahead.look(now, (ended += 400), 1_000);
  expect(ahead.told).toBeGreaterThan(1_200);
  // A timeout of half a second: 50 ms until such a claim goes back.
  expect(ahead.look(1_050, ended + 400, 50)).toBeLessThanOrEqual(200);
});

import { expect, test } from 'vitest';
import { OutboxPace } from './outbox-pace.ts';

test('a report that comes alone goes at once, also right after another message', () => {
  const pace = new OutboxPace();
  for (let now = 0; now < 1_000; now += 1.5) {
    pace.reported(now);
    expect(pace.waitMs(now)).toBe(0);
    pace.sent(now);
  }
});

test('of many reports those of 2 ms share a message', () => {
  const pace = new OutboxPace();
  for (let i = 0; i < 20; i++) pace.reported(i / 10);
  pace.sent(2);
  pace.reported(2.5);
  expect(pace.waitMs(2.5)).toBeCloseTo(1.5);
  expect(pace.waitMs(4)).toBe(0);
});

test('it is forgotten after a moment that there were many', () => {
  const pace = new OutboxPace();
  for (let i = 0; i < 100; i++) pace.reported(0);
  pace.sent(100);
  pace.reported(100);
  expect(pace.waitMs(100)).toBe(0);
});

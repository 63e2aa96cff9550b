import type { MonoMs, QueueName, TenantId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import { StartRates } from './start-rates.ts';

const tenantId = 1 as TenantId;
const queue = 'default' as QueueName;

function ratesAt(from: number) {
  let now = from;
  const rates = new StartRates({ mono: () => now as MonoMs });
  const after = (ms: number) => {
    now += ms;
  };
  return { rates, after, start: (count: number) => Array.from({ length: count }, () => rates.note(tenantId, queue)) };
}

test('starts of the last minute count, older ones do not', () => {
  const { rates, after, start } = ratesAt(0);
  start(60);
  after(30_000);
  start(30);
  after(29_999);
  expect(Math.round(rates.perMinute(tenantId, queue))).toBe(90);
  after(1);
  // The first ten seconds are out of sight: 50 seconds are left.
  expect(Math.round(rates.perMinute(tenantId, queue))).toBe(36);
  after(10 * 60_000);
  expect(rates.perMinute(tenantId, queue)).toBe(0);
});

test('a server that has just started extrapolates', () => {
  const { rates, after, start } = ratesAt(7_000);
  expect(rates.perMinute(tenantId, queue)).toBe(0);
  start(10);
  after(2_000);
  expect(Math.round(rates.perMinute(tenantId, queue))).toBe(300);
});

test('queues and tenants are counted apart', () => {
  const { rates, after, start } = ratesAt(0);
  start(5);
  after(59_999);
  expect(rates.perMinute(2 as TenantId, queue)).toBe(0);
  expect(rates.perMinute(tenantId, 'gpu' as QueueName)).toBe(0);
});

import type { Command, QuotaRule, TenantId } from '@signalbox/engine';
import { expect, test } from 'vitest';
import type { Clock } from '../ports.ts';
import { Tenants } from './tenants.ts';

const QUOTA = { tenantId: 1 as TenantId, runs: { soft: null, hard: 2 } } as unknown as QuotaRule;

function setUp(failures: number) {
  const told: Command['kind'][] = [];
  const waiting: (() => void)[] = [];
  let [left, reads] = [failures, 0];
  const clock: Clock = {
    wall: () => 0 as ReturnType<Clock['wall']>,
    mono: () => 0 as ReturnType<Clock['mono']>,
    after: (_ms, run) => {
      waiting.push(run);
      return () => undefined;
    },
  };
  const tenants = new Tenants({
    clock,
    log: () => undefined,
    readTenants: async () => [],
    readCaps: async () => [],
    readFrozen: async () => [],
    readKept: async () => [],
    onKept: () => undefined,
    readQuotas: async () => {
      reads += 1;
      left -= 1;
      if (left >= 0) throw new Error('The database is away.');
      return [QUOTA];
    },
    onFrozen: () => undefined,
    onRead: () => undefined,
    tell: ({ kind }) => told.push(kind),
  });
  const passTime = async () => {
    waiting.shift()?.();
    await settled();
  };
  return { tenants, told, passTime, reads: () => reads };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a start waits until everything was read once, however often it fails', async () => {
  const { tenants, told, passTime } = setUp(2);
  let isStarted = false;
  const start = tenants.start().then(() => {
    isStarted = true;
  });
  await settled();
  expect([isStarted, told]).toEqual([false, []]);
  await passTime();
  expect(isStarted).toBe(false);
  await passTime();
  await start;
  expect(told).toEqual(['SetQuotas']);
});

test('it is read again and again, and told on change only', async () => {
  const { tenants, told, passTime, reads } = setUp(0);
  await tenants.start();
  await passTime();
  await passTime();
  expect([reads(), told]).toEqual([3, ['SetQuotas']]);
  tenants.stop();
  await passTime();
  expect(reads()).toBe(3);
});

test('one that is stopped while it waits for the database reads no more', async () => {
  const { tenants, told, passTime, reads } = setUp(9);
  const start = tenants.start();
  await settled();
  tenants.stop();
  await passTime();
  await start;
  expect([reads(), told]).toEqual([1, []]);
});

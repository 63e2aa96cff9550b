import type { Instant } from '@signalbox/engine';
import type { DagStats, Stats } from '@signalbox/protocol';
import { createClient } from '@signalbox/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Rig, startRig } from '../testing/rig.ts';
import { sumsOf } from './ended-sums.ts';
import { stepsOf } from './stats.ts';

describe('sums', () => {
  test('count outcomes, and tell the durations of runs that succeeded', () => {
    const ended = [
      { outcome: 'succeeded', withinMs: 100, runs: 50 },
      { outcome: 'succeeded', withinMs: 2_000, runs: 45 },
      { outcome: 'succeeded', withinMs: 60_000, runs: 5 },
      { outcome: 'succeeded', withinMs: null, runs: 7 },
      { outcome: 'failed', withinMs: 900_000, runs: 3 },
    ] as const;
    expect(sumsOf(ended)).toEqual({
      succeeded: 107,
      failed: 3,
      cancelled: 0,
      p50Ms: 100,
      p95Ms: 2_000,
      p99Ms: 60_000,
    });
    expect(sumsOf([])).toMatchObject({ succeeded: 0, p50Ms: null });
  });
});

describe('steps', () => {
  const HOUR_MS = 3_600_000;
  const iso = (hour: number | undefined) => new Date((hour ?? 0) * HOUR_MS).toISOString();

  test('of hours end with the current one', () => {
    const steps = stepsOf({ by: 'hour', steps: 2, zone: 'UTC' }, Date.parse('2026-11-17T01:30:00Z') as Instant);
    expect(steps.map(({ from }) => from)).toEqual(['2026-11-17T00:00:00.000Z', '2026-11-17T01:00:00.000Z']);
  });

  test('of days begin at midnight of the zone, also around a clock change', () => {
    const now = Date.parse('2026-10-26T12:00:00Z') as Instant;
    const steps = stepsOf({ by: 'day', steps: 3, zone: 'Europe/Berlin' }, now);
    expect(steps.map(({ from, fromHour }) => [from, iso(fromHour)])).toEqual([
      ['2026-10-24', '2026-10-23T22:00:00.000Z'],
      ['2026-10-25', '2026-10-24T22:00:00.000Z'],
      ['2026-10-26', '2026-10-25T23:00:00.000Z'],
    ]);
  });

  test('of days know that it is tomorrow already in the east', () => {
    const now = Date.parse('2026-11-17T20:00:00Z') as Instant;
    expect(stepsOf({ by: 'day', steps: 1, zone: 'Asia/Tokyo' }, now)).toEqual([
      { from: '2026-11-18', fromHour: Date.parse('2026-11-17T15:00:00Z') / HOUR_MS },
    ]);
  });
});

describe('over REST', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.addWorker({
      echo: ({ params }: { params: unknown }) => params,
      fail: () => {
        throw new Error('on purpose');
      },
    });
  });
  afterAll(() => rig.stop());
  const read = async <T>(path: string): Promise<T> => (await rig.ask('GET', path)).body as unknown as T;

  test('what ended is counted by step and by dag, at once', async () => {
    const client = createClient({ url: rig.servers[0]?.url ?? '', token: rig.token });
    for (const handler of ['echo', 'fail']) {
      await client.deployDag({ name: handler, tasks: [{ name: 'only', handler }] });
      await client.waitForRun((await client.submit(handler, {})).id);
    }
    await client.waitForRun((await client.submit('echo', {})).id);
    const { steps, total } = await read<Stats>('/v1/stats?by=day&steps=7&zone=America/New_York');
    expect(steps).toHaveLength(7);
    expect(total).toMatchObject({ succeeded: 2, failed: 1, cancelled: 0 });
    expect(steps.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)).toBe(3);
    expect(total.p50Ms).toBeGreaterThan(0);
    expect((await read<Stats>('/v1/stats?dag=fail')).total).toMatchObject({ succeeded: 0, failed: 1, p50Ms: null });
    const { items } = await read<DagStats>('/v1/stats/dags?days=1');
    expect(items.map(({ dag, succeeded, failed }) => [dag, succeeded, failed])).toEqual([
      ['echo', 2, 0],
      ['fail', 0, 1],
    ]);
    expect((await rig.ask('GET', '/v1/stats?dag=none')).status).toBe(404);
    expect((await rig.ask('GET', '/v1/stats?by=day&zone=Mars/Olympus')).status).toBe(400);
  });
});

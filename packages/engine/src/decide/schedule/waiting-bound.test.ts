import { expect, test } from 'vitest';
import { scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';
import { MOST_WAITING } from './definition-schedules.ts';

const queued = every('0 0 1 1 *', { ifRunning: 'queue_all' });
const many = (from: number, count: number, spec = queued) =>
  Object.fromEntries(Array.from({ length: count }, (_, no) => [`s${from + no}`, spec]));

test('schedules that wait for other runs are in memory at all times, so a shard takes a limited number (I73)', () => {
  const box = scenario({ dag: job(), runs: 0, audit: false });
  for (let from = 0; from < MOST_WAITING; from += 1_000) box.createSchedules(many(from, 1_000));
  const refusal = { ok: false, code: 'SCHEDULE_INVALID', detail: expect.stringContaining('takes no more') };
  expect(box.createSchedules({ more: queued })).toMatchObject(refusal);
  // Those that do not wait, and those that are there, are taken.
  expect(box.createSchedules({ plain: every('0 0 1 1 *'), s0: queued })).toMatchObject({ ok: true });
  expect(box.editSchedule('plain', queued)).toMatchObject(refusal);
  expect(() => box.deploy(job({ schedule: queued }), 'other')).toThrow('takes no more');
  expect(box.editSchedule('s0', every('0 0 1 1 *'))).toMatchObject({ ok: true });
  expect(box.createSchedules({ more: queued })).toMatchObject({ ok: true });
  box.killOwner();
  expect(box.createSchedules({ again: queued })).toMatchObject(refusal);
});

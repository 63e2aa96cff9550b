import { expect, test } from 'vitest';
import { DigestBuilder } from './digest.ts';

const event = (kind: string, dag: string | null, run: string | null) => ({
  view: { kind, at: '2026-01-01T00:00:00.000Z', dag, run, task: null, details: {} },
});

test('a digest names each dag, run and kind once', () => {
  const digest = new DigestBuilder();
  expect(digest.isEmpty).toBe(true);
  digest.add(event('run.created', 'etl', 'r1'));
  digest.add(event('attempt.claimed', 'etl', 'r1'));
  digest.add(event('schedule.set', 'mail', null));
  expect(digest.build()).toEqual({
    count: 3,
    dags: ['etl', 'mail'],
    runs: ['r1'],
    kinds: ['run.created', 'attempt.claimed', 'schedule.set'],
    more: false,
  });
});

test('a digest says that there is more when it cannot name everything', () => {
  const many = new DigestBuilder();
  for (let i = 0; i < 5_000; i++) many.add(event('run.created', `dag-${i}`, `run-${i}`));
  const { count, dags, runs, more } = many.build();
  expect([count, dags.length, runs.length, more]).toEqual([5_000, 100, 200, true]);
  const unreadable = new DigestBuilder();
  unreadable.add(event('events.skipped', null, null));
  expect(unreadable.build().more).toBe(true);
});

import { expect, test } from 'vitest';
import { toDagSpec } from './dag-spec.ts';

const specOf = (schedule: object) =>
  toDagSpec({ name: 'd', schedule: { cron: '0 1 * * *', ...schedule }, tasks: [{ name: 't', run: 'true' }] }).spec;

test('a schedule requires runs of other dags, within a time or for the same window', () => {
  const requires = [
    { dag: 'orders', window: 'same' },
    { dag: 'rates', within: '6h' },
  ];
  expect(specOf({ requires, wait: '2h', unmet: 'run' }).schedule).toMatchObject({
    requires: [
      { dag: 'orders', window: 'same' },
      { dag: 'rates', withinMs: 21_600_000 },
    ],
    waitMs: 7_200_000,
    unmet: 'run',
  });
});

test('retry looks again at its own pace', () => {
  const requires = [{ dag: 'orders', window: 'same' }];
  const spec = specOf({ requires, retry: { every: '10m', times: 6 }, unmet: 'fail' });
  expect(spec.schedule).toMatchObject({ waitMs: 3_600_000, lookMs: 600_000, unmet: 'fail' });
});

test.each([
  ['both', { requires: [{ dag: 'a', window: 'same', within: '1h' }] }],
  ['neither', { requires: [{ dag: 'a' }] }],
  ['nothing', { requires: [] }],
  ['unmet alone', { unmet: 'run' }],
  ['wait alone', { wait: '1h' }],
  ['retry alone', { retry: { every: '1m', times: 2 } }],
  ['both', { requires: [{ dag: 'a', window: 'same' }], wait: '1h', retry: { every: '1m', times: 2 } }],
  ['too long', { requires: [{ dag: 'a', window: 'same' }], retry: { every: '1d', times: 31 } }],
  ['another word', { requires: [{ dag: 'a', window: 'same' }], unmet: 'retry' }],
])('%s is refused', (_, schedule) => {
  expect(() => specOf(schedule)).toThrow(expect.objectContaining({ code: 'DAG_INVALID' }));
});

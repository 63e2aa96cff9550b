import { expect, test } from 'vitest';
import { scheduleWarnings } from './schedule-warnings.ts';

test.each([
  [{ schedule: { cron: '@daily', missed: 'latest' } }, ['schedule.missed: latest', 'most_recent']],
  [{ schedules: [{}, { missed: 'all' }] }, ['schedules[1].missed: all', 'catchup']],
  [{ items: [{ missed: 'all' }] }, ['items[0].missed: all', 'catchup']],
  [{ missed: 'latest' }, ['missed: latest', 'most_recent']],
])('%j is told about old words', (written, [place, word]) => {
  expect(scheduleWarnings(written)).toEqual([`${place} is an old word. Write ${word}, which means the same.`]);
});

test.each([[{ schedule: { missed: 'catchup' } }], [{}], [null], ['text']])('%j has none', (written) => {
  expect(scheduleWarnings(written)).toEqual([]);
});

test.each([
  [{ missed: 'skip', missedLimit: 5 }, ['missedLimit has no effect without missed: catchup.']],
  [{ missedLimit: 5 }, ['missedLimit has no effect without missed: catchup.']],
  [
    { every: '1h', gap: 'skip', overlap: 'both' },
    ['gap has no effect with every.', 'overlap has no effect with every.'],
  ],
  [{ missed: 'catchup', missedLimit: 5, cron: '0 0 * * *', gap: 'skip' }, []],
])('%j is told about settings without effect', (schedule, warnings) => {
  expect(scheduleWarnings(schedule)).toEqual(warnings);
});

import { expect, test } from 'vitest';
import { oldWordsIn } from './old-words.ts';

test.each([
  [{ schedule: { cron: '@daily', missed: 'latest' } }, ['schedule.missed: latest', 'most_recent']],
  [{ schedules: [{}, { missed: 'all' }] }, ['schedules[1].missed: all', 'catchup']],
  [{ items: [{ missed: 'all' }] }, ['items[0].missed: all', 'catchup']],
  [{ missed: 'latest' }, ['missed: latest', 'most_recent']],
])('%j is told about old words', (written, [place, word]) => {
  expect(oldWordsIn(written)).toEqual([`${place} is an old word. Write ${word}, which means the same.`]);
});

test.each([[{ schedule: { missed: 'catchup' } }], [{}], [null], ['text']])('%j has none', (written) => {
  expect(oldWordsIn(written)).toEqual([]);
});

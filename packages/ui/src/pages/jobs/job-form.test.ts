import { expect, test } from 'vitest';
import { NEW_JOB, readJob } from './job-form.ts';

const read = (change: Partial<typeof NEW_JOB>) => readJob({ ...NEW_JOB, ...change });

test.each([
  ['a command at once', { run: 'echo hi' }, { run: 'echo hi' }],
  ['a command later', { run: 'x', time: 'delay', delay: '2h' }, { run: 'x', delay: '2h' }],
  [
    'a call each morning',
    { kind: 'http', method: 'POST', url: 'https://a.example/x', body: '{"a":1}', time: 'cron' },
    { http: { method: 'POST', url: 'https://a.example/x', body: { a: 1 } }, cron: '0 6 * * *', zone: 'UTC' },
  ],
  [
    'a task of a dag, again and again',
    { kind: 'task', dag: 'shop', task: 'pack', inputs: '{"order":7}', time: 'every' },
    { task: { dag: 'shop', task: 'pack' }, inputs: { order: 7 }, every: '15m' },
  ],
  [
    'labels and limits',
    {
      run: 'x',
      name: ' nightly ',
      tags: 'a, b',
      owner: 'me',
      queue: 'q',
      timeout: '5m',
      attempts: '3',
      priority: 'low',
    },
    {
      run: 'x',
      name: 'nightly',
      tags: ['a', 'b'],
      owner: 'me',
      queue: 'q',
      timeout: '5m',
      retries: { maxAttempts: 3 },
      priority: 'low',
    },
  ],
] as const)('%s', (_, change, body) => {
  expect(read(change as Partial<typeof NEW_JOB>)).toEqual({ body });
});

test.each([
  [{}, ['run']],
  [{ kind: 'http', body: '{' }, ['body', 'url']],
  [{ kind: 'task' }, ['dag', 'task']],
  [{ run: 'x', time: 'at', at: 'soon' }, ['at']],
  [{ run: 'x', attempts: 'many' }, ['attempts']],
] as const)('%j lacks %j', (change, names) => {
  const answer = read(change);
  expect('faults' in answer ? Object.keys(answer.faults).sort() : []).toEqual([...names].sort());
});

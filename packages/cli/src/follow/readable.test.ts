import { expect, test } from 'vitest';
import { readableError, readableLine } from './readable.ts';

test.each([
  ['log', '{"level":"info","message":"brewing","grams":32}', 'info  brewing {"grams":32}'],
  ['log', '{"level":"warn","message":"low"}', 'warn  low'],
  ['log', '{"level":1}', '{"level":1}'],
  ['log', 'not JSON', 'not JSON'],
  ['stdout', '{"level":"info","message":"x"}', '{"level":"info","message":"x"}'],
] as const)('a line of %s, %s, is read as %s', (stream, text, expected) => {
  expect(readableLine({ stream, text })).toBe(expected);
});

test("an error keeps the frames of the user's own code", () => {
  const hash = 'ab'.repeat(32);
  const error = [
    'Error: no price',
    '  in row 3',
    `    at <anonymous> (/root/.cache/signalbox/bundles/${hash}/broken.ts:15:13)`,
    '    at callHandler (/srv/signalbox/packages/worker/src/executors/call-handler.ts:7:22)',
    '    at /srv/app/node_modules/@signalbox/worker/dist/child.js:1:1',
    '    at Socket.emit (node:events:524:28)',
    '    at async node:internal/process/task_queues:95:5',
  ].join('\n');
  expect(readableError(error)).toEqual(['Error: no price', '  in row 3', '    at <anonymous> (broken.ts:15:13)']);
});

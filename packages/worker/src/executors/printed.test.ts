import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AttemptLog } from '../logs/attempt-log.ts';
import { Printed } from './printed.ts';

const PRINTS = fileURLToPath(new URL('../../dist/child/prints.js', import.meta.url));
const mark = Buffer.from('\0end\n');

test('an attempt that has printed is over when the marks have come on both streams, and not before', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = new Printed(stdout, stderr, mark, { whenRelieved: () => {} });
  const lines: string[] = [];
  const log = new AttemptLog({ take: ({ text }) => lines.push(text) > 0, isBehind: false }, () => 0);
  printed.begin(log);
  stdout.write('one\n');
  let isOver = false;
  printed.end(true, () => {
    isOver = true;
  });
  stdout.write('two');
  stdout.write(mark);
  await setImmediate();
  expect([isOver, lines]).toEqual([false, ['one', 'two']]);
  stderr.write('three\n\0en');
  await setImmediate();
  expect(isOver).toBe(false);
  stderr.write('d\nof nobody');
  await setImmediate();
  expect([isOver, lines]).toEqual([true, ['one', 'two', 'three']]);
});

test('an attempt that has printed nothing has nothing to wait for', () => {
  const printed = new Printed(new PassThrough(), new PassThrough(), mark, { whenRelieved: () => {} });
  let isOver = false;
  printed.end(false, () => {
    isOver = true;
  });
  expect(isOver).toBe(true);
});

test.each([
  ['nothing', '', false],
  ['the console', 'console.log("x")', true],
  ['stderr', 'process.stderr.write("x")', true],
  ['the bare descriptor', '(await import("node:fs")).writeSync(2, "x")', true],
  ['another file', '(await import("node:fs")).writeFileSync("/dev/null", "x")', false],
  ['a process', '(await import("node:child_process")).execFileSync("true")', true],
  ['a process that goes on', '(await import("node:child_process")).spawn("true")', true],
])('whether user code has printed is known for %s', (_, code, hasPrinted) => {
  const script = `import { markEnd, watchPrints, writeAll } from ${JSON.stringify(PRINTS)};
    watchPrints();
    ${code};
    writeAll(1, Buffer.from('|' + markEnd(Buffer.from(''))));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(said.toString().split('|').at(-1)).toBe(String(hasPrinted));
});

import { expect, test } from 'vitest';
import { WindowPace } from './window-pace.ts';

function after(commits: number, tookMs: number, windows?: number): number {
  const pace = new WindowPace();
  for (let no = 0; no < commits; no++) pace.note({ windows: windows ?? pace.windowsPerStep, tookMs });
  return pace.windowsPerStep;
}

test.each([
  ['nothing was committed', 0, 10, 250],
  ['commits are short', 2, 10, 331],
  ['commits stay short: within a bound', 50, 10, 500],
  ['commits take as long as they should', 50, 30, 250],
  ['commits are long', 2, 60, 160],
  ['commits stay long: within a bound', 50, 60, 125],
])('how many windows a step decides when %s', (_, commits, tookMs, expected) => {
  expect(after(commits, tookMs)).toBe(expected);
});

test('a commit with few windows changes nothing', () => {
  expect(after(50, 1, 20)).toBe(250);
});

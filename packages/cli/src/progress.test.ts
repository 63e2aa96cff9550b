import { expect, test } from 'vitest';
import { linesOf } from './follow/live.ts';
import { visible } from './output.ts';
import { progressText } from './progress.ts';
import { runView, taskView } from './testing/run-view.ts';

const at = '2026-01-01T00:00:00.000Z';

test.each([
  [{ fraction: 0.5, note: 'half of the files' }, '50 %: half of the files'],
  [{ fraction: null, note: 'no idea' }, 'no idea'],
  [{ fraction: 1, note: '' }, '100 %'],
  [{ fraction: 0.256, note: 'a\u001b[31mred\nline' }, '26 %: a'],
])('%j reads as %j', (told, text) => {
  expect(progressText({ progress: { ...told, at } }).startsWith(text)).toBe(true);
  expect(progressText({ progress: { ...told, at } })).not.toContain('\u001b');
});

test('a run that is followed shows how far its running tasks are', () => {
  const run = runView([taskView('copy', 'running', { progress: { fraction: 0.25, note: 'a quarter', at } })]);
  const lines = linesOf(run, { columns: 100, rows: 24, now: Date.parse(at) + 2_000 });
  expect(visible(lines[1] ?? '')).toContain('25 %: a quarter');
  expect(progressText({})).toBe('');
});

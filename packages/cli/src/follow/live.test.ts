import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runView, taskView } from '../testing/run-view.ts';
import { LiveView, linesOf } from './live.ts';

const NOW = Date.parse('2026-01-01T00:00:02.000Z');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('every task has a line with its state, attempt and time', () => {
  const run = runView([
    taskView('fetch', 'succeeded'),
    taskView('load', 'running', { attempt: 2 }),
    taskView('tell', 'blocked'),
  ]);
  expect(linesOf(run, { columns: 80, rows: 24, now: NOW })).toEqual([
    'demo open 2.0 s: 1 succeeded, 1 running, 1 blocked',
    '  ✔ fetch  succeeded 0 ms',
    '  ▶ load   running attempt 2 2.0 s',
    '  · tell   blocked',
  ]);
});

test('ten thousand tasks fit the screen, and what matters is among those shown', () => {
  const tasks = Array.from({ length: 10_000 }, (_, i) =>
    taskView(`t${i}`, i === 9_000 ? 'failed' : i === 9_500 ? 'running' : 'succeeded'),
  );
  const lines = linesOf(runView(tasks), { columns: 80, rows: 20, now: NOW });
  expect(lines.length).toBeLessThanOrEqual(20 - 1);
  expect(lines[1]).toContain('t9000');
  expect(lines[2]).toContain('t9500');
  expect(lines.at(-1)).toMatch(/and 9\d\d\d more tasks/);
});

test('no line is wider than the screen: it would wrap, and be drawn over wrongly', () => {
  const run = runView([taskView('x'.repeat(200), 'failed', { error: 'y'.repeat(500) })]);
  for (const line of linesOf(run, { columns: 40, rows: 24, now: NOW })) expect(line.length).toBeLessThan(40);
});

test('it is drawn over in place, and gone when it is cleared', () => {
  const written: string[] = [];
  const view = new LiveView({ columns: 80, rows: 24, write: (text) => written.push(text) }, () => NOW);
  view.show(runView([taskView('a', 'running')]));
  vi.advanceTimersByTime(250);
  expect(written).toHaveLength(2);
  expect(written[1]).toBe(`\u001b[2A\r\u001b[J${written[0]}`);
  view.clear();
  vi.advanceTimersByTime(1_000);
  expect(written.slice(2)).toEqual(['\u001b[2A\r\u001b[J']);
});

test('names and errors of users can not steer the terminal (I69)', () => {
  const run = runView([taskView('a\u001b[2J', 'failed', { error: 'b\u001b]0;x\u0007' })]);
  expect(linesOf(run, { columns: 80, rows: 24, now: NOW }).join('')).not.toContain('\u001b');
});

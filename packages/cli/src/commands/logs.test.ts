import type { LogLine } from '@signalbox/sdk';
import { expect, test, vi } from 'vitest';
import { showAll } from './logs.ts';

const line = (no: number): LogLine => ({ no, at: '2026-11-15T00:00:00.000Z', stream: 'stdout', text: `line ${no}` });

function shown(lines: readonly LogLine[], flags = {}): string[] {
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text).trimEnd());
    return true;
  });
  showAll(lines, flags);
  spy.mockRestore();
  return written;
}

test('lines that lack are told of where they lack', () => {
  expect(shown([line(2), line(3), line(5)])).toEqual([
    expect.stringContaining('2 lines are missing: their server is offline'),
    'line 2',
    'line 3',
    expect.stringContaining('a line is missing'),
    'line 5',
  ]);
});

test('a whole log, and the end of one, lack nothing', () => {
  expect(shown([line(0), line(1)])).toEqual(['line 0', 'line 1']);
  expect(shown([line(7), line(8)], { tail: 2 })).toEqual(['line 7', 'line 8']);
});

import { expect, test, vi } from 'vitest';
import { plain, plainLines, printJson, printJsonLine, spanText, table, wantsColours } from './output.ts';

const HOSTILE = 'a\u001b]0;title\u0007\u009b31mb\r\nc\u202ed';

test('what users wrote can neither steer the terminal nor forge a line (I69)', () => {
  expect(plain(HOSTILE)).toBe('a\u{fffd}]0;title\u{fffd}\u{fffd}31mb\u{fffd}\u{fffd}c\u{fffd}d');
  expect(plainLines('one\n\ttwo\u001b[2J')).toBe('one\n\ttwo\u{fffd}[2J');
});

test.each([[printJson], [printJsonLine]])('JSON holds no control either, and still says the same (I69)', (write) => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  write({ text: HOSTILE });
  spy.mockRestore();
  // biome-ignore lint: controls are what is looked for
  expect(written.join('').trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(JSON.parse(written.join(''))).toEqual({ text: HOSTILE });
});

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, false],
  [{ TERM: 'dumb' }, true, false],
])('%j on a terminal: %s → colours: %s', (env, onTerminal, expected) => {
  expect(wantsColours(env, onTerminal)).toBe(expected);
});

test('columns are as wide as what is in them', () => {
  expect(
    table(
      ['a', 'b'],
      [
        ['long one', 'x'],
        ['s', ''],
      ],
    ),
  ).toBe('a         b\nlong one  x\ns');
});

test.each([
  [12, '12 ms'],
  [1_500, '1.5 s'],
  [61_000, '1 min 1 s'],
  [7_260_000, '2 h 1 min'],
])('%i ms is said as %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

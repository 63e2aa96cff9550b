import { expect, test } from 'vitest';
import { type Cell, csvOf } from './csv.ts';

test.each<[Cell, string]>([
  ['etl', 'etl'],
  [1.5, '1.5'],
  [-1, '-1'],
  [null, ''],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['=HYPERLINK("http://evil.example","x")', '"\'=HYPERLINK(""http://evil.example"",""x"")"'],
  ['+1', "'+1"],
  ['-2+3', "'-2+3"],
  ['@sum', "'@sum"],
  ['\t=1', "'\t=1"],
  ['two\nlines', '"two\nlines"'],
])('a cell is data: %j is written as %s (I69)', (cell, text) => {
  expect(csvOf([[cell, 'x']])).toBe(`${text},x\r\n`);
});

import { expect, test } from 'vitest';
import { uncoloured, visible } from './visible.ts';

test.each([
  ['plain text, with ümlauts and 日本', 'plain text, with ümlauts and 日本'],
  ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
  ['abc\u202egnp.exe', 'abc⟨U+202E⟩gnp.exe'],
  ['a\u2066b\u2069c\u200fd', 'a⟨U+2066⟩b⟨U+2069⟩c⟨U+200F⟩d'],
  ['bell\u0007 and \u009b31m', 'bell\ufffd and \ufffd31m'],
])('%j is shown as %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test.each([
  ['\u001b[31mred\u001b[0m text', 'red text'],
  ['\u001b]0;title\u0007after', 'after'],
  ['\u001b[2J\u001b[1;1Hgone?', 'gone?'],
  ['cut \u001b[', 'cut \ufffd['],
])('%j without colours is %j', (text, shown) => {
  expect(uncoloured(text)).toBe(shown);
});

import { expect, test } from 'vitest';
import { blocksIn, commandsOf } from './guide-blocks.ts';

test('a block is what stands in it: a file, something to type, or marked as not run', () => {
  const page = [
    'text',
    '```yaml',
    '# nightly.yaml',
    'name: nightly',
    '```',
    '<!-- not run: needs other hosts -->',
    '```sh',
    'ssh box',
    '```',
    '```go',
    'package main',
    '```',
    '```',
    'what a command printed',
    '```',
  ].join('\n');
  expect(blocksIn('a.md', page)).toEqual([
    { at: 'a.md:2', guide: 'a.md', language: 'yaml', text: 'name: nightly\n', file: 'nightly.yaml', notRun: null },
    { at: 'a.md:7', guide: 'a.md', language: 'sh', text: 'ssh box\n', file: null, notRun: 'needs other hosts' },
    { at: 'a.md:10', guide: 'a.md', language: 'go', text: 'package main\n', file: null, notRun: null },
  ]);
});

test.each([
  ['one   # a comment', [{ text: 'one', exitCode: 0, isEndless: false }]],
  ['one   # exits with 3: so', [{ text: 'one', exitCode: 3, isEndless: false }]],
  ['one   # (this one fails again)', [{ text: 'one', exitCode: 1, isEndless: false }]],
  ['# only a comment\n\n', []],
  ['signalbox worker --spot', [{ text: 'signalbox worker --spot', exitCode: 0, isEndless: true }]],
  ['signalbox workers', [{ text: 'signalbox workers', exitCode: 0, isEndless: false }]],
  ['curl -N \\\n  x', [{ text: 'curl -N    x', exitCode: 0, isEndless: true }]],
])('%j is read as commands', (text, expected) => {
  expect(commandsOf(text)).toEqual(expected);
});

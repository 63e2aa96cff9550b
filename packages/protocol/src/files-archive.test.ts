import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSafePath, packFiles, unpackFiles } from './files-archive.ts';

const part = fc.stringMatching(/^[a-zA-Zé_-][a-zA-Z0-9é._-]{0,8}$/);
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const file = fc.record({
  path,
  isExecutable: fc.boolean(),
  content: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
});

test('files come back as they went in, and their order does not change the bytes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(file, { selector: (each) => each.path, maxLength: 8 }), (files) => {
      const archive = packFiles(files);
      const byPath = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
      expect(unpackFiles(archive)).toEqual(byPath);
      expect(packFiles([...files].reverse()).equals(archive)).toBe(true);
    }),
  );
});

test.each(['', '/etc/passwd', '../x', 'a/../b', './a', 'a//b', 'a/', 'C:/x', 'a\\b', 'a\0b', 'x'.repeat(401)])(
  'no archive puts anything at %j',
  (unsafe) => {
    expect(isSafePath(unsafe)).toBe(false);
    const archive = packFiles([{ path: unsafe, isExecutable: false, content: Buffer.from('x') }]);
    expect(() => unpackFiles(archive)).toThrow(/path in it is not allowed/);
  },
);

test.each([
  ['', /begin/],
  ['SIGNALBOX-FILES 1\n', /begin/],
  ['SIGNALBOX-FILES 1\n{}\n', /list/],
  ['SIGNALBOX-FILES 1\n[["a",5,0]]\nabc', /length/],
  ['SIGNALBOX-FILES 1\n[["a",-1,0]]\nabc', /size/],
  ['SIGNALBOX-FILES 1\n[["a",0,0],["a",0,0]]\n', /path/],
  ['SIGNALBOX-FILES 1\n[["a",1,0]]\nab', /length/],
])('%j is no archive', (text, why) => {
  expect(() => unpackFiles(Buffer.from(text))).toThrow(why);
});

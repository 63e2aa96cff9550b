import { expect, test } from 'vitest';
import { readShellLine } from './shell-references.ts';
import type { InputSource } from './template.ts';
import { asText, fillTemplate, readTemplate, sourcesIn, type ToSource } from './template.ts';

const any: ToSource = (reference) => reference as InputSource;
const VALUES: Readonly<Record<string, unknown>> = {
  params: { day: 'mon', n: 3 },
  run: 'r1',
  secret: 's3cret',
  task: [1, 2],
};
const fill = (value: unknown) => {
  const read = readTemplate(value, any);
  return read.ok ? fillTemplate(read.template, ({ from }) => VALUES[from]) : `${read.path}: ${read.message}`;
};

test.each<[unknown, unknown]>([
  ['plain $ {{ text }}', 'plain $ {{ text }}'],
  ['${{ params }}', { day: 'mon', n: 3 }],
  ['a-${{ run.id }}-b${{run.id}}', 'a-r1-br1'],
  ['${{ run.id }}${{ tasks.x.output }}', 'r1[1,2]'],
  ['Bearer ${{ secrets.A }}!', 'Bearer s3cret!'],
  ['${{ secrets.A }}', 's3cret'],
  [
    { a: ['x', '${{ run.id }}', 7], b: null },
    { a: ['x', 'r1', 7], b: null },
  ],
])('%j becomes %j', (value, filled) => {
  expect(fill(value)).toEqual(filled);
});

test.each<[unknown, string]>([
  ['a ${{ params.x', ': a reference is not closed'],
  ['${{ params.x }} ${{', ': a reference is not closed'],
  ['a-${{ nothing }}', ': "nothing" is not a reference'],
  [{ a: [1, 'x${{ run.colour }}'] }, '.a[1]: "run.colour" is not known: there are run.id'],
  ['${{ window.begin }}', ': "window.begin" is not known'],
])('%j is refused: %s', (value, message) => {
  expect(fill(value)).toContain(message);
});

test('what a value holds is never read as a reference again (I69)', () => {
  const read = readTemplate('${{ params.a }}/${{ secrets.B }}', any);
  const filled =
    read.ok && fillTemplate(read.template, ({ from }) => (from === 'params' ? '${{ secrets.B }}' : 'hidden'));
  expect(filled).toBe('${{ secrets.B }}/hidden');
  expect(read.ok && [...sourcesIn(read.template)].map(({ from }) => from)).toEqual(['params', 'secret']);
});

test.each([
  [null, ''],
  [7, '7'],
  [true, 'true'],
  ['x', 'x'],
  [{ a: 1 }, '{"a":1}'],
])('as text %j is %j', (value, text) => {
  expect(asText(value)).toBe(text);
});

test.each([
  ['echo ${{ params.a }}', 'echo "${SIGNALBOX_REF_0}"'],
  ['echo "a ${{ params.a }} b" ${{ run.id }}', 'echo "a ${SIGNALBOX_REF_0} b" "${SIGNALBOX_REF_1}"'],
  ["echo 'it' \"isn't\" \\' ${{ params.a }}", 'echo \'it\' "isn\'t" \\\' "${SIGNALBOX_REF_0}"'],
  ['echo none', 'echo none'],
])('the line %j becomes %j', (text, line) => {
  expect(readShellLine(text)).toMatchObject({ ok: true, line });
});

test.each([
  ["echo '${{ params.a }}'", 'single quotes'],
  ['echo \\${{ params.a }}', 'backslash'],
])('the line %j is refused: %s', (text, why) => {
  expect(readShellLine(text)).toMatchObject({ ok: false, message: expect.stringContaining(why) });
});

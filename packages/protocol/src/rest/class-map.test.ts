import { expect, test } from 'vitest';
import { classIn, classMapSchema, EXIT_CLASSES } from './class-map.ts';

const schema = classMapSchema('exit codes', 255, EXIT_CLASSES);

test.each([
  ['a number', { '75': 'transient' }, true],
  ['a range', { '64-78': 'permanent', '1': 'resource', '3': 'succeeded' }, true],
  ['a range that runs backwards', { '9-3': 'transient' }, false],
  ['a number that there is not', { '256': 'transient' }, false],
  ['a word', { many: 'transient' }, false],
  ['a class that there is not', { '1': 'lost' }, false],
  ['too many', Object.fromEntries(Array.from({ length: 101 }, (_, no) => [String(no), 'transient'])), false],
])('a map with %s', (_, map, isFine) => {
  expect(schema.safeParse(map).success).toBe(isFine);
});

test.each([
  [75, 'transient'],
  [70, 'permanent'],
  [64, 'permanent'],
  [78, 'permanent'],
  [79, 'resource'],
  [3, null],
])('%d is %s: the narrowest that speaks of it', (number, expected) => {
  expect(classIn({ '60-200': 'resource', '64-78': 'permanent', '75': 'transient' }, number)).toBe(expected);
});

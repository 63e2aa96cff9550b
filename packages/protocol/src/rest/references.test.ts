import { expect, test } from 'vitest';
import { follow, readReference, taskReference } from './references.ts';

test.each([
  ['${{ tasks.extract.output }}', { from: 'task', task: 'extract', path: [] }],
  ['${{tasks.extract.output.rows[0].id}}', { from: 'task', task: 'extract', path: ['rows', 0, 'id'] }],
  ['${{ tasks["a.b"].output["odd name"] }}', { from: 'task', task: 'a.b', path: ['odd name'] }],
  ['${{ params }}', { from: 'params', path: [] }],
  ['${{ params.day }}', { from: 'params', path: ['day'] }],
  ['${{ secrets.API_KEY }}', { from: 'secret', name: 'API_KEY' }],
])('%s points to one thing', (text, reference) => {
  expect(readReference(text)).toEqual({ ok: true, reference });
});

test.each([
  ['${{ tasks.extract }}', 'only the output'],
  ['${{ tasks[0].output }}', 'only the output'],
  ['${{ process.env.HOME }}', 'is not a reference'],
  ['${{ paramsx.a }}', 'is not a reference'],
  ['${{ params.a + 1 }}', 'not a valid step'],
  ['${{ params.a.}}', 'not a valid step'],
  ['${{ params["a\\"] }}', 'not a valid step'],
  ['${{ secrets.A.B }}', 'one word'],
  ['x ${{ params.a }}', 'whole value'],
  ['${{ params.a }} ${{ params.b }}', 'whole value'],
  ['${{ params.a', 'whole value'],
])('%s is refused with what to write', (text, message) => {
  expect(readReference(text)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
});

test('text without a reference is just text', () => {
  expect(readReference('{{ params.a }} $HOME')).toBeNull();
});

test('what a program writes can be read back', () => {
  for (const [task, path] of [
    ['a', []],
    ['a.b', ['x', 3, 'odd name']],
  ] as const) {
    expect(readReference(taskReference(task, path))).toMatchObject({ ok: true, reference: { task, path } });
  }
});

test('a path never reaches what objects inherit (I69)', () => {
  expect(follow({ a: [{ b: 1 }] }, ['a', 0, 'b'])).toBe(1);
  for (const path of [['constructor'], ['__proto__'], ['a', 'length', 'x'], ['a', 1]])
    expect(follow({ a: [0] }, path)).toBeUndefined();
  expect(follow('text', ['length'])).toBeUndefined();
});

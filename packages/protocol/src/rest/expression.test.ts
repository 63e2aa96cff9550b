import { expect, test } from 'vitest';
import { type ExpressionShape, readExpression } from './expression.ts';

const references = {
  task: (name: string, path: readonly unknown[]): ExpressionShape | string =>
    name === 'gone' ? 'there is no task gone' : { op: 'task', task: name.length, fact: path.length },
  error: (name: string, of: 'class' | 'code'): ExpressionShape => ({ op: 'error', task: name.length, of }),
  params: (path: readonly unknown[]): ExpressionShape => ({ op: 'params', fact: path.length }),
};
const read = (text: string) => readExpression(text, references);
const value = (of: string | number | boolean | null): ExpressionShape => ({ op: 'value', value: of });
const params: ExpressionShape = { op: 'params', fact: 1 };

test.each<[string, ExpressionShape]>([
  ['true', value(true)],
  ['null', value(null)],
  ['-1.5e2', value(-150)],
  ["'it\\'s'", value("it's")],
  ['"a \\\\ b"', value('a \\ b')],
  ['${{ params.a }}', params],
  ['  ${{params.a}}  ', params],
  ['tasks.ab.output', { op: 'task', task: 2, fact: 0 }],
  ['tasks.ab.error.class', { op: 'error', task: 2, of: 'class' }],
  ['tasks.ab.error["code"]', { op: 'error', task: 2, of: 'code' }],
  ['tasks["a b"].output.x[0]', { op: 'task', task: 3, fact: 2 }],
  ['tasks.a-b.output.x-y', { op: 'task', task: 3, fact: 1 }],
  ["params.a == 'x'", { op: 'eq', left: params, right: value('x') }],
  ['params.a<=3', { op: 'le', left: params, right: value(3) }],
  ['!params.a != false', { op: 'ne', left: { op: 'not', of: params }, right: value(false) }],
  ['params.a in [1, 2]', { op: 'in', left: params, list: [value(1), value(2)] }],
  ['true || false && null', { op: 'or', of: [value(true), { op: 'and', of: [value(false), value(null)] }] }],
  ['(true || false) && null', { op: 'and', of: [{ op: 'or', of: [value(true), value(false)] }, value(null)] }],
  ['length(params.a) > 0', { op: 'gt', left: { op: 'call', name: 'length', args: [params] }, right: value(0) }],
  ["contains(params.a, 'x')", { op: 'call', name: 'contains', args: [params, value('x')] }],
])('%s is read', (text, expression) => {
  expect(read(text)).toEqual({ ok: true, expression });
});

test.each([
  ['', 'at column 1: expected a value, found the end'],
  ['params.a ==', 'at column 12: expected a value, found the end'],
  ['params.a = 1', 'at column 10: expected the end, or an operator such as && or ==, found "= 1"'],
  ['(true', 'at column 6: expected ), found the end'],
  ['${{ true', 'between ${{ and }}'],
  ['full', 'texts stand in quotes'],
  ['tasks.gone.output', 'there is no task gone'],
  ['tasks.a.state', 'a task has an output, error.class and error.code'],
  ['secrets.KEY == 1', 'no secret'],
  ["'open", 'a text that ends with '],
  ['length()', 'at column 8: expected a value'],
  ['length(1, 2)', 'length takes one value, not 2'],
  ['params.a in params.b', 'a list such as'],
  ['constructor(1)', 'a function (length'],
  ['1e999 == 1', 'a number that is not too large'],
  ['1 2', 'at column 3'],
  ['process.exit()', 'at column 1'],
])('%s is refused with its place', (text, message) => {
  const found = read(text);
  expect(found.ok).toBe(false);
  expect(!found.ok && found.message).toContain(message);
});

test('how deep and how large a condition is has limits; a long row of && is not deep', () => {
  expect(read('('.repeat(40))).toMatchObject({ ok: false, message: expect.stringContaining('deep') });
  expect(read('!'.repeat(40))).toMatchObject({ ok: false, message: expect.stringContaining('deep') });
  expect(read(Array(90).fill('true').join('&&'))).toMatchObject({ ok: true });
  expect(read(Array(300).fill('1').join('&&'))).toMatchObject({
    ok: false,
    message: expect.stringContaining('200 parts'),
  });
});

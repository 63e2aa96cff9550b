import { describe, expect, test } from 'vitest';
import { SignalboxError } from '../errors.ts';
import { toDagSpec } from './dag-spec.ts';

const specOf = (speculate: unknown, more: object = {}) =>
  toDagSpec({ name: 'd', tasks: [{ name: 'a', run: 'x', map: [1, 2], speculate, ...more }] }).spec.tasks[0]?.speculate;

describe('speculate', () => {
  test.each([
    [true, { factor: 3, minMs: 10_000 }],
    [{}, { factor: 3, minMs: 10_000 }],
    [
      { factor: 1.5, after: '2m', minimum: 7 },
      { factor: 1.5, minMs: 120_000, minimum: 7 },
    ],
    [false, undefined],
    [undefined, undefined],
  ])('%j is %j in the spec', (given, spec) => {
    expect(specOf(given)).toEqual(spec);
  });

  test('is for members of a mapped group as well', () => {
    const tasks = [{ name: 'a', run: 'x', group: 'g', speculate: true }];
    const { spec } = toDagSpec({ name: 'd', groups: [{ name: 'g', map: [1] }], tasks });
    expect(spec.tasks[0]?.speculate).toEqual({ factor: 3, minMs: 10_000 });
  });

  test.each([
    ['in no map', true, { map: undefined }, 'tasks[0].speculate', /siblings/],
    ['of a call', true, { run: undefined, dag: 'other' }, 'tasks[0].speculate', /runs another dag/],
    ['after its timeout', { after: '1m' }, { timeout: '30s' }, 'tasks[0].speculate.after', /below timeout/],
    ['faster than its siblings', { factor: 1 }, {}, 'tasks[0].speculate', /./],
    ['with what there is not', { share: 2 }, {}, 'tasks[0].speculate', /./],
  ])('%s is refused with the place (I38)', (_, speculate, more, path, message) => {
    const problems = problemsOf(() => specOf(speculate, more));
    expect(problems).toContainEqual({ path: expect.stringContaining(path), message: expect.stringMatching(message) });
  });

  test('in a group without a map it is refused as well', () => {
    const tasks = [{ name: 'a', run: 'x', group: 'g', speculate: true }];
    const problems = problemsOf(() => toDagSpec({ name: 'd', groups: [{ name: 'g' }], tasks }));
    expect(problems).toMatchObject([{ path: 'tasks[0].speculate' }]);
  });
});

function problemsOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof SignalboxError) return error.body().problems;
  }
  return expect.fail('It was let through.');
}

import { SignalboxError, toDagSpec } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { advise } from './advise.ts';

const task = (name: string, more: object = {}) => ({ name, handler: 'h', ...more });

function adviceOn(definition: object): unknown {
  try {
    toDagSpec(definition);
  } catch (error) {
    const [problem] = (error as SignalboxError).details.problems ?? [];
    if (problem !== undefined) return advise(problem, definition);
  }
  throw new Error('The definition has no problem.');
}

const LOAD = 'Did you mean load?';

test.each([
  ['a need', { tasks: [task('load'), task('b', { needs: ['laod'] })] }, LOAD],
  ['an input', { tasks: [task('load'), task('b', { inputs: { x: '${{ tasks.laod.output }}' } })] }, LOAD],
  ['a condition', { tasks: [task('load'), task('b', { when: 'tasks.laod.output > 1' })] }, LOAD],
  ['a map', { tasks: [task('load'), task('b', { map: { over: '${{ tasks.laod.output }}' } })] }, LOAD],
  ['a teardown', { tasks: [task('load'), task('b', { teardown: 'laod' })] }, LOAD],
  [
    'an input of a hook',
    {
      tasks: [
        task('load', { hooks: { onFailure: { handler: 'h', inputs: { x: '${{ tasks.laod.output }}' } } } }),
        task('b'),
      ],
    },
    LOAD,
  ],
  ['a group', { groups: [{ name: 'part' }], tasks: [task('a', { group: 'prat' })] }, 'Did you mean part?'],
  ['a name like no other', { tasks: [task('load', { needs: ['zzzzzz'] })] }, 'Use the name of a task of this dag.'],
  ['a name twice', { tasks: [task('a'), task('a')] }, 'Give each task a unique name.'],
  [
    'a cycle',
    { tasks: [task('a', { needs: ['b'] }), task('b', { needs: ['a'] })] },
    expect.stringContaining('Remove one of these needs'),
  ],
  ['a field of a task', { tasks: [task('a', { need: [] })] }, expect.stringContaining('Did you mean needs?')],
  [
    'a function name',
    { tasks: [{ name: 'a', function: 'f'.repeat(201) }] },
    expect.stringContaining('combines the names of dag and task'),
  ],
])('%s that is wrong comes with advice', (_, definition, remedy) => {
  expect(adviceOn({ name: 'd', ...definition })).toMatchObject({ remedy });
});

test.each([
  [{ function: 'f', run: 'x' }, 'tasks[0] has call and run: give one of call, run, http, handler, dag'],
  [{}, 'tasks[0] does not say what it does: give one of call, run, http, handler, dag'],
])('a task that does not say one thing is told so in the words of a file', (work, message) => {
  expect(adviceOn({ name: 'd', tasks: [{ name: 'a', ...work }] })).toMatchObject({ message });
});

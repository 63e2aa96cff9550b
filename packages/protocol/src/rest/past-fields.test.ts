import { describe, expect, test } from 'vitest';
import { toDagSpec } from './dag-spec.ts';

const SCHEDULE = { cron: '0 1 * * *' };

function specOf(dag: object, ...tasks: readonly object[]) {
  const named = tasks.map((task, no) => ({ name: `t${no}`, run: 'true', ...task }));
  return toDagSpec({ name: 'd', schedule: SCHEDULE, ...dag, tasks: named }).spec;
}

const pastOf = (...parts: Parameters<typeof specOf>) => specOf(...parts).tasks.map(({ past }) => past);

test('a task can depend on the past, and a dag says what its tasks do that do not', () => {
  expect(pastOf({}, { dependsOnPast: true }, { waitForDownstream: true }, {})).toEqual([
    'task',
    'downstream',
    undefined,
  ]);
  expect(pastOf({ dependsOnPast: true }, {}, { dependsOnPast: false }, { waitForDownstream: true })).toEqual([
    'task',
    undefined,
    'downstream',
  ]);
  expect(pastOf({ waitForDownstream: true }, {}, { dependsOnPast: true }, { teardown: 't0' })).toEqual([
    'downstream',
    'task',
    undefined,
  ]);
});

describe('contradictions are refused, with their place', () => {
  test.each<[string, Parameters<typeof specOf>]>([
    ['tasks[0].waitForDownstream', [{}, { dependsOnPast: false, waitForDownstream: true }]],
    ['waitForDownstream', [{ dependsOnPast: false, waitForDownstream: true }, {}]],
    ['tasks[1].dependsOnPast', [{}, {}, { teardown: true, dependsOnPast: true }]],
    ['schedule.ifRunning', [{ schedule: { ...SCHEDULE, ifRunning: 'cancel_running' } }, { dependsOnPast: true }]],
    [
      'schedules[1].ifRunning',
      [
        { schedule: null, schedules: [SCHEDULE, { ...SCHEDULE, ifRunning: 'cancel_running' }], dependsOnPast: true },
        {},
      ],
    ],
  ])('%s', (path, parts) => {
    const refused = expect.objectContaining({ problems: [expect.objectContaining({ path })] });
    expect(() => specOf(...parts)).toThrow(expect.objectContaining({ code: 'DAG_INVALID', details: refused }));
  });
});

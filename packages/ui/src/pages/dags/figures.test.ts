import type { DagView } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { labelsOf, passes, successRate } from './figures.ts';

const dag = (more: Partial<DagView>) =>
  ({ name: 'etl', description: null, tags: [], owner: null, schedule: null, lastRun: null, ...more }) as DagView;
const any = { show: 'all', q: '', tag: undefined, owner: undefined };

test.each([
  [{}, {}, true],
  [{ tags: ['billing'] }, { tag: 'billing' }, true],
  [{ tags: ['billing'] }, { tag: 'bill' }, false],
  [{ owner: 'team-data' }, { owner: 'team-data' }, true],
  [{ owner: null }, { owner: 'team-data' }, false],
  [{ tags: ['billing'], owner: 'team-data' }, { q: 'BILL data' }, true],
  [{ description: 'Sends mails' }, { q: 'mails etl' }, true],
  [{ description: 'Sends mails' }, { q: 'mails rates' }, false],
  [{}, { show: 'scheduled' }, false],
] as const)('%j with the filter %j: %s', (more, filter, expected) => {
  expect(passes(dag(more as Partial<DagView>), { ...any, ...filter })).toBe(expected);
});

test('labels are those of all dags, once, by name', () => {
  const dags = [dag({ tags: ['b', 'a'], owner: 'z' }), dag({ tags: ['a'], owner: 'y' }), dag({ owner: 'z' })];
  expect(labelsOf(dags)).toEqual({ tags: ['a', 'b'], owners: ['y', 'z'] });
});

test('the rate leaves out runs that somebody cancelled', () => {
  expect(successRate({ succeeded: 9, failed: 1 })).toBe(90);
  expect(successRate({ succeeded: 0, failed: 0 })).toBeNull();
});

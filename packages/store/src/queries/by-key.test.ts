/** Queries that look up many rows of one run do so by the whole key, one by one, also on tables of which nothing is known. */

import { afterAll, expect, test } from 'vitest';
import { START } from '../conformance/changes.ts';
import { Fixtures } from '../fixture.testing.ts';
import { dayOf } from '../leaf.ts';
import { selectOutputs } from './outputs.ts';
import { selectAttempts, selectSomeAttempts, selectSomeTasks } from './task-view.ts';

const fixtures = new Fixtures();
afterAll(() => fixtures.stop());

test.each([
  ['payload', selectOutputs],
  ['task', selectSomeTasks],
  ['task', selectSomeAttempts],
  ['attempt', selectSomeAttempts],
  ['task', selectAttempts],
] as const)('rows of %s', async (table, statementOf) => {
  const box = await fixtures.open({ now: () => START });
  const { text } = statementOf(`d${dayOf(START)}`);
  const plan = (await box.sql(`explain (generic_plan) ${text}`)).map((row) => row['QUERY PLAN']).join('\n');
  const scan = new RegExp(`Index Scan using ${table}_\\S+ on ${table}_\\S+ .*\\n\\s+Index Cond: .*task_no = `);
  expect(plan).toMatch(scan);
  // Otherwise a page of 500 rows would go through all rows of the run 500 times.
  expect(plan).not.toMatch(/Join Filter: .*task_no|Materialize/);
});

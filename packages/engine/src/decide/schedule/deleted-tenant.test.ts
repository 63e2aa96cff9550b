import { expect, test } from 'vitest';
import { type Scenario, scenario } from '../../testing/scenario.ts';
import { every, job } from '../../testing/specs.ts';

const MINUTELY = '* * * * *';

function setDeleted(box: Scenario, isDeleted: boolean): void {
  const { tenantId } = box.state.dags.get(box.dagId)!;
  box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight: 1, isSuspended: isDeleted, isDeleted }] });
}

const decided = (box: Scenario) =>
  box.changes('WindowDecided').map(({ runId, skipped }) => (runId === null ? skipped : 'run'));

test('schedules of a deleted tenant create no runs: each window is recorded, and they go on when it is back (I2)', () => {
  const box = scenario({ dag: job({ schedule: every(MINUTELY) }) });
  box.advance('1m');
  setDeleted(box, true);
  box.advance('2m');
  // What is known of tenants comes from outside: a new owner is told before it decides.
  box.killOwner('1s');
  setDeleted(box, true);
  box.advance('1m');
  setDeleted(box, false);
  box.advance('1m');
  expect(decided(box)).toEqual(['run', 'deleted', 'deleted', 'deleted', 'run']);
});

test('a suspended tenant is another matter: its runs are created, and wait', () => {
  const box = scenario({ dag: job({ schedule: every(MINUTELY) }) });
  const { tenantId } = box.state.dags.get(box.dagId)!;
  box.feed({ kind: 'SetTenants', tenants: [{ tenantId, weight: 1, isSuspended: true }] });
  box.advance('1m');
  expect(decided(box)).toEqual(['run']);
});
